package baton.shared.word

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/**
 * All interleavings of processes that add to their counts, take them off and die, by breadth-first search over a model
 * whose steps are the atomic steps of the implementation.
 */
class CountsModelTest {
    @Test
    fun counts_inAllInterleavingsOfTwoProcessesWithDeath_areExact() {
        assertExact(CountsModel(limit = 1, changes = listOf(4, 4)))
    }

    @Test
    fun counts_inAllInterleavingsOfThreeProcessesWithDeath_areExact() {
        assertExact(CountsModel(limit = 1, changes = listOf(4, 2, 2)))
    }

    private fun assertExact(model: CountsModel) {
        var taken = 0
        val size =
            StateSearch.run(model.start(), model::next) { state, isLast ->
                model.check(state)
                val isOver = state.processes.all { it.at == CountsAt.DONE || it.at == CountsAt.DEAD }
                assertTrue(isOver || !isLast, "stuck: $state")
                if (state.processes.indices.any { model.isTakenOff(state, it) }) taken++
            }
        println("counts: $size, in $taken the count of a dead process is taken off")
        assertTrue(taken > 0)
    }

    @Test
    fun word_ofTheLargestNumbers_holdsThemApart() {
        val max = CountsWord.MAX_COUNT
        var word = 0L
        repeat(1 shl 15) { word = CountsWord.changed(word, slot = 1023, count = max, total = max) }
        assertEquals(listOf(1023, max, max), partsOf(word))
        assertEquals(listOf(1, 0, max), partsOf(CountsWord.changed(word, slot = 1, count = 0, total = max)))
        assertTrue(CountsWord.changed(word, 1023, max, max) != word)
        assertFalse(CountsWord.isLost(word))
        val lost = CountsWord.takenOff(word, slot = 1023, total = 0)
        assertEquals(listOf(1023, 0, 0), partsOf(lost))
        assertTrue(CountsWord.isLost(CountsWord.changed(lost, slot = 1, count = 1, total = 1)))
        assertEquals(partsOf(lost), partsOf(CountsWord.told(lost)))
        assertFalse(CountsWord.isLost(CountsWord.told(lost)))

        var entry = CountsWord.adopted(0, max)
        repeat(1 shl 3) { entry = CountsWord.withCount(entry, max) }
        assertEquals(listOf(max, max), listOf(CountsWord.generationOf(entry), CountsWord.countOf(entry)))
        entry = CountsWord.adopted(entry, 1)
        assertEquals(listOf(1, 0), listOf(CountsWord.generationOf(entry), CountsWord.countOf(entry)))
    }

    private fun partsOf(word: Long) =
        listOf(CountsWord.lastSlotOf(word), CountsWord.lastCountOf(word), CountsWord.totalOf(word))
}
