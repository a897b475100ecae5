package baton.shared.word

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/**
 * All interleavings of three processes that lock, write in two steps, unlock, sleep, give up and die, by breadth-first
 * search over a model whose steps are the atomic steps of the implementation.
 */
class MutexWordModelTest {
    @Test
    fun word_inAllInterleavingsWithoutDeath_excludesAndLosesNoWake() {
        val found = explore(MutexModel(mayDie = false, sections = listOf(2, 2, 1)))
        println("without death: $found")
        assertTrue(found.size.states > 1_000, "$found")
        assertEquals(0, found.announced)
    }

    @Test
    fun word_inAllInterleavingsWithDeath_announcesEveryTornSection() {
        val found = explore(MutexModel(mayDie = true, sections = listOf(1, 1, 1)))
        println("with death: $found")
        assertTrue(found.announced > 0, "$found")
    }

    private class Found(val size: StateSearch.Size, val announced: Int) {
        override fun toString() = "$size, $announced torn sections announced"
    }

    private fun explore(model: MutexModel): Found {
        var announced = 0
        val size =
            StateSearch.run(model.start(), model::next) { state, isLast ->
                model.check(state)
                if (state.isTornAnnounced()) announced++
                val isOver = state.processes.all { it.at == At.DONE || it.at == At.DEAD }
                assertTrue(isOver || !isLast, "stuck: $state")
            }
        return Found(size, announced)
    }
}
