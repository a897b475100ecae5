package baton.scheduler

import baton.Priority
import baton.Priority.CRITICAL
import baton.Priority.HIGH
import baton.Priority.IDLE
import baton.Priority.LOW
import baton.Priority.NORMAL
import baton.scheduler.dispatch.LimitedRunQueue
import baton.scheduler.dispatch.PriorityRunQueue
import baton.scheduler.dispatch.RunQueue
import baton.scheduler.dispatch.WorkerSlot
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Runnable
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Where the slots of a view stand, in a line beneath whose order the test decides. */
class LimitedRunQueueTest {
    private class Beneath(policy: PriorityPolicy = PriorityPolicy.Strict) : RunQueue() {
        override val parallelism = 9
        override val root = PriorityRunQueue(Dispatchers.Default, 9, policy, 16)
        private val slots = ArrayList<WorkerSlot>()

        val levels get() = slots.map { LEVELS[it.level] }

        override fun enqueue(level: Int, block: Runnable) {
            slots += block as WorkerSlot
        }

        /** Whether the first slot of [level] ran a block. */
        fun pick(level: Priority): Boolean {
            val slot = slots.first { it.level == level.ordinal }
            slots -= slot
            val begins = slot.begin { it.enqueue(this) }
            if (begins) slot.run()
            return begins
        }

        override fun hasWorkAbove(level: Int) = false

        override fun remove(level: Int, block: Runnable) = false

        override fun blocks(level: Int) = emptyList<Runnable>()

        override fun metrics() = error("not asked")
    }

    private val ran = ArrayList<Priority>()

    private fun RunQueue.add(level: Priority, block: () -> Unit = {}) =
        enqueue(level.ordinal) {
            ran += level
            block()
        }

    @Test
    fun enqueue_moreUrgentThanAllSlots_addsASlotAndKeepsTheOthers() {
        val beneath = Beneath()
        val view = LimitedRunQueue(beneath, 1)
        view.add(LOW)
        repeat(3) { view.add(CRITICAL) }
        assertEquals(listOf(LOW, CRITICAL), beneath.levels)
        repeat(3) { assertTrue(beneath.pick(CRITICAL)) }
        assertEquals(listOf(LOW), beneath.levels)
        assertTrue(beneath.pick(LOW))
        assertEquals(listOf(CRITICAL, CRITICAL, CRITICAL, LOW), ran)
        assertTrue(beneath.levels.isEmpty())
    }

    @Test
    fun slot_thatFindsTheViewFullOrEmpty_doesNothing() {
        val beneath = Beneath()
        val view = LimitedRunQueue(beneath, 1)
        view.add(LOW)
        view.add(CRITICAL) {
            view.add(HIGH)
            // Full.
            assertFalse(beneath.pick(CRITICAL))
        }
        assertTrue(beneath.pick(LOW))
        assertEquals(listOf(HIGH), beneath.levels)
        assertTrue(beneath.pick(HIGH))
        assertEquals(listOf(LOW), beneath.levels)
        view.add(IDLE)
        view.add(CRITICAL)
        assertTrue(beneath.pick(CRITICAL))
        assertTrue(beneath.pick(LOW))
        assertEquals(listOf(IDLE), beneath.levels)
        assertTrue(beneath.pick(IDLE))
        assertEquals(listOf(CRITICAL, HIGH, CRITICAL, LOW, IDLE), ran)
        assertEquals(0, view.metrics().workers)
    }

    @Test
    fun slot_moreUrgentThanAllThatWaits_givesWayToOneAtTheLevelOfTheBlock() {
        val beneath = Beneath()
        val view = LimitedRunQueue(beneath, 1)
        view.add(LOW)
        view.add(CRITICAL)
        assertTrue(beneath.pick(LOW))
        assertEquals(listOf(CRITICAL), beneath.levels)
        assertFalse(beneath.pick(CRITICAL))
        assertEquals(listOf(LOW), beneath.levels)
        assertTrue(beneath.pick(LOW))
        assertEquals(listOf(CRITICAL, LOW), ran)
    }

    @Test
    fun slots_ofOneLevel_areNeverMoreThanThePlaces() {
        val beneath = Beneath()
        val view = LimitedRunQueue(beneath, 2)
        for (level in Priority.entries.reversed()) repeat(5) { view.add(level) }
        assertEquals(Priority.entries.reversed().flatMap { listOf(it, it) }, beneath.levels)
        assertEquals(2, view.metrics().workers)
    }

    @Test
    fun blockThatIsDue_takesTheSlotOfAMoreUrgentOne_everyBlockStillHasASlotAtItsLevel() {
        val beneath = Beneath(PriorityPolicy.Shares(1, 1, 1, 1, PriorityPolicy.Shares.MAX_WEIGHT))
        val view = LimitedRunQueue(beneath, 3)
        view.add(NORMAL)
        beneath.pick(NORMAL)
        view.add(CRITICAL) {
            // A slot of IDLE runs this; the one of CRITICAL still stands.
            view.add(NORMAL)
            // It gives way to one of NORMAL, and that runs what is due: IDLE.
            assertFalse(beneath.pick(CRITICAL))
            assertTrue(beneath.pick(NORMAL))
        }
        repeat(2) { view.add(IDLE) }
        assertEquals(listOf(CRITICAL, IDLE, IDLE), beneath.levels)
        beneath.pick(IDLE)
        assertEquals(listOf(1, 1), listOf(view.metrics()[NORMAL].queued, view.metrics()[IDLE].queued))
        assertEquals(setOf(NORMAL, IDLE), beneath.levels.toSet())
    }

    @Test
    fun slotOfAViewOfAView_isNoPickThereWhileTheInnerViewIsFull() {
        val beneath = Beneath()
        val outer = LimitedRunQueue(beneath, 2)
        val inner = LimitedRunQueue(outer, 1)
        inner.add(LOW)
        inner.add(CRITICAL) {
            // The inner view's slot of LOW stands first at that level.
            outer.add(LOW)
            while (beneath.levels.isNotEmpty()) beneath.pick(beneath.levels.first())
        }
        beneath.pick(CRITICAL)
        while (beneath.levels.isNotEmpty()) beneath.pick(beneath.levels.first())
        assertEquals(listOf(CRITICAL, LOW, LOW), ran)
        assertEquals(listOf(1L, 2L), listOf(outer.metrics()[CRITICAL].picked, outer.metrics()[LOW].picked))
        assertEquals(0, outer.metrics().workers + inner.metrics().workers)
    }
}
