package baton.scheduler

import baton.Priority.CRITICAL
import baton.Priority.IDLE
import baton.Priority.NORMAL
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Runnable
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

/** Where the turns of a view stand, told by a line beneath whose order the test decides. */
class LimitedLineTest {
    private class Beneath(policy: PriorityPolicy) : Line() {
        override val parallelism = 9
        override val root = PriorityCore(Dispatchers.Default, 9, policy, 16)
        override val mask = 0
        private val turns = ArrayList<Turn>()

        val levels get() = turns.filterNot { it.isOver }.map { LEVELS[it.level] }

        override fun enqueue(level: Int, block: Runnable) {
            turns += block as Turn
        }

        fun run(level: Int) = turns.first { !it.isOver && it.level == level }.also { turns -= it }.run()

        override fun remove(level: Int, block: Runnable) = false

        override fun blocks(level: Int) = emptyList<Runnable>()

        override fun sweep() = Unit

        override fun metrics() = error("not asked")
    }

    @Test
    fun blockThatIsDue_takesTheTurnOfAMoreUrgentOne_everyBlockStillHasATurnAtItsLevel() {
        val beneath = Beneath(PriorityPolicy.Shares(1, 1, 1, 1, PriorityPolicy.Shares.MAX_WEIGHT))
        val view = LimitedLine(beneath, 3)
        view.enqueue(NORMAL.ordinal) { }
        beneath.run(NORMAL.ordinal)
        view.enqueue(CRITICAL.ordinal) {
            // A turn of IDLE has let this run; the one of CRITICAL still stands.
            view.enqueue(NORMAL.ordinal) { }
            // And runs what is due: IDLE.
            beneath.run(CRITICAL.ordinal)
        }
        repeat(2) { view.enqueue(IDLE.ordinal) { } }
        assertEquals(listOf(CRITICAL, IDLE, IDLE), beneath.levels)
        beneath.run(IDLE.ordinal)
        assertEquals(listOf(1, 1), listOf(view.metrics()[NORMAL].queued, view.metrics()[IDLE].queued))
        assertEquals(setOf(NORMAL, IDLE), beneath.levels.toSet())
    }
}
