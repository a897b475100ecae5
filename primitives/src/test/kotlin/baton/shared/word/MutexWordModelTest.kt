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
        assertTrue(found.states > 1_000, "$found")
        assertEquals(0, found.announced)
    }

    @Test
    fun word_inAllInterleavingsWithDeath_announcesEveryTornSection() {
        val found = explore(MutexModel(mayDie = true, sections = listOf(1, 1, 1)))
        println("with death: $found")
        assertTrue(found.announced > 0, "$found")
    }

    private class Found(val states: Int, val steps: Int, val announced: Int) {
        override fun toString() = "$states states, $steps steps, $announced torn sections announced"
    }

    private fun explore(model: MutexModel): Found {
        val seen = HashSet<MutexState>()
        val queue = ArrayDeque<MutexState>()
        var steps = 0
        var announced = 0
        fun visit(state: MutexState) {
            if (seen.add(state)) queue.addLast(state)
        }
        visit(model.start())
        while (queue.isNotEmpty()) {
            val state = queue.removeFirst()
            model.check(state)
            if (state.isTornAnnounced()) announced++
            val next = model.next(state)
            steps += next.size
            if (next.isEmpty())
                assertTrue(state.processes.all { it.at == At.DONE || it.at == At.DEAD }, "stuck: $state")
            next.forEach(::visit)
        }
        return Found(seen.size, steps, announced)
    }
}
