package baton.scheduler.dispatch

import baton.Priority
import baton.Priority.CRITICAL
import baton.Priority.HIGH
import baton.Priority.IDLE
import baton.Priority.LOW
import baton.Priority.NORMAL
import baton.reportingTo
import baton.scheduler.PriorityPolicy
import kotlin.coroutines.CoroutineContext
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Runnable
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** The slots of a view in its parent, whose order of picks the test decides. */
@Tag("jdk")
class LimitedRunQueueTest {
    private class Parent(policy: PriorityPolicy = PriorityPolicy.Strict) : RunQueue() {
        override val parallelism = 9
        override val root = PriorityRunQueue(Dispatchers.Default, 9, policy, 16)
        private val slots = ArrayList<WorkerSlot>()

        val levels
            get() = slots.map { LEVELS[it.level] }

        var lacksMemory = false

        override fun enqueue(level: Int, block: Runnable) {
            if (lacksMemory) throw OutOfMemoryError("test")
            slots += block as WorkerSlot
        }

        /** Whether the first slot of [level] ran a block. */
        fun pick(level: Priority): Boolean {
            val slot = slots.first { it.level == level.ordinal }
            slots -= slot
            val begins = slot.begin()
            slot.takeMissingSlot()?.enqueue(this)
            if (begins) slot.run()
            return begins
        }

        override fun hasWorkAbove(level: Int) = false

        override fun remove(level: Int, block: Runnable) = false

        override fun metrics() = error("not called")
    }

    /** Slots cannot be made while [failure] is set. */
    private class View(parent: RunQueue, parallelism: Int) : LimitedRunQueue(parent, parallelism) {
        var failure: Error? = null

        override fun newSlot(level: Int): WorkerSlot = failure?.let { throw it } ?: super.newSlot(level)
    }

    private val ran = ArrayList<Priority>()

    private fun RunQueue.add(level: Priority, block: () -> Unit = {}) =
        enqueue(level.ordinal) {
            ran += level
            block()
        }

    @Test
    fun enqueue_moreUrgentThanAllSlots_addsASlotAndKeepsTheOthers() {
        val parent = Parent()
        val view = LimitedRunQueue(parent, 1)
        view.add(LOW)
        repeat(3) { view.add(CRITICAL) }
        assertEquals(listOf(LOW, CRITICAL), parent.levels)
        repeat(3) { assertTrue(parent.pick(CRITICAL)) }
        assertEquals(listOf(LOW), parent.levels)
        assertTrue(parent.pick(LOW))
        assertEquals(listOf(CRITICAL, CRITICAL, CRITICAL, LOW), ran)
        assertTrue(parent.levels.isEmpty())
    }

    @Test
    fun slot_pickedWhileTheViewIsFullOrEmpty_doesNothing() {
        val parent = Parent()
        val view = LimitedRunQueue(parent, 1)
        view.add(LOW)
        view.add(CRITICAL) {
            view.add(HIGH)
            // The view is full.
            assertFalse(parent.pick(CRITICAL))
        }
        assertTrue(parent.pick(LOW))
        assertEquals(listOf(HIGH), parent.levels)
        assertTrue(parent.pick(HIGH))
        assertEquals(listOf(LOW), parent.levels)
        view.add(IDLE)
        view.add(CRITICAL)
        assertTrue(parent.pick(CRITICAL))
        assertTrue(parent.pick(LOW))
        assertEquals(listOf(IDLE), parent.levels)
        assertTrue(parent.pick(IDLE))
        assertEquals(listOf(CRITICAL, HIGH, CRITICAL, LOW, IDLE), ran)
        assertEquals(0, view.metrics().workers)
    }

    @Test
    fun slot_moreUrgentThanAllBlocks_isReplacedByOneAtTheLevelOfTheBlock() {
        val parent = Parent()
        val view = LimitedRunQueue(parent, 1)
        view.add(LOW)
        view.add(CRITICAL)
        assertTrue(parent.pick(LOW))
        assertEquals(listOf(CRITICAL), parent.levels)
        assertFalse(parent.pick(CRITICAL))
        assertEquals(listOf(LOW), parent.levels)
        assertTrue(parent.pick(LOW))
        assertEquals(listOf(CRITICAL, LOW), ran)
    }

    @Test
    fun slots_ofOneLevel_areAtMostTheParallelism() {
        val parent = Parent()
        val view = LimitedRunQueue(parent, 2)
        for (level in Priority.entries.reversed()) repeat(5) { view.add(level) }
        assertEquals(Priority.entries.reversed().flatMap { listOf(it, it) }, parent.levels)
        assertEquals(2, view.metrics().workers)
    }

    @Test
    fun block_atItsBound_usesAMoreUrgentSlot_everyBlockStillHasASlotAtItsLevel() {
        val parent = Parent(PriorityPolicy.Shares(1, 1, 1, 1, PriorityPolicy.Shares.MAX_WEIGHT))
        val view = LimitedRunQueue(parent, 3)
        view.add(NORMAL)
        parent.pick(NORMAL)
        view.add(CRITICAL) {
            // A slot of IDLE runs this block; the one of CRITICAL is still queued.
            view.add(NORMAL)
            // A slot of NORMAL replaces it and runs the level that has reached its bound: IDLE.
            assertFalse(parent.pick(CRITICAL))
            assertTrue(parent.pick(NORMAL))
        }
        repeat(2) { view.add(IDLE) }
        assertEquals(listOf(CRITICAL, IDLE, IDLE), parent.levels)
        parent.pick(IDLE)
        assertEquals(listOf(1, 1), listOf(view.metrics()[NORMAL].queued, view.metrics()[IDLE].queued))
        assertEquals(setOf(NORMAL, IDLE), parent.levels.toSet())
    }

    @Test
    fun slot_ofAFullViewOfAView_doesNotCountAsAPick() {
        val parent = Parent()
        val outer = LimitedRunQueue(parent, 2)
        val inner = LimitedRunQueue(outer, 1)
        inner.add(LOW)
        inner.add(CRITICAL) {
            // The inner view's slot is the head of LOW.
            outer.add(LOW)
            while (parent.levels.isNotEmpty()) parent.pick(parent.levels.first())
        }
        parent.pick(CRITICAL)
        while (parent.levels.isNotEmpty()) parent.pick(parent.levels.first())
        assertEquals(listOf(CRITICAL, LOW, LOW), ran)
        assertEquals(listOf(1L, 2L), listOf(outer.metrics()[CRITICAL].picked, outer.metrics()[LOW].picked))
        assertEquals(0, outer.metrics().workers + inner.metrics().workers)
    }

    @Test
    fun enqueue_withoutMemoryForASlot_throwsAndAddsNothing() {
        val parent = Parent()
        val view = View(parent, 1)
        view.failure = OutOfMemoryError("test")
        assertThrows<OutOfMemoryError> { view.add(HIGH) }
        assertEquals(0, view.metrics()[HIGH].queued)
        view.failure = null
        view.add(HIGH)
        assertTrue(parent.pick(HIGH))
        assertEquals(listOf(HIGH), ran)
        assertEquals(0, view.metrics().workers)
    }

    @Test
    fun enqueue_parentLacksMemoryForTheSlot_throwsAndAddsNothing() {
        val parent = Parent()
        val view = LimitedRunQueue(parent, 1)
        parent.lacksMemory = true
        assertThrows<OutOfMemoryError> { view.add(HIGH) }
        assertEquals(listOf(0, 0), listOf(view.metrics()[HIGH].queued, view.metrics().workers))
        parent.lacksMemory = false
        view.add(HIGH)
        assertTrue(parent.pick(HIGH))
        assertEquals(listOf(HIGH), ran)
    }

    @Test
    fun block_endsWithoutMemoryForASlot_theNextBlockRuns() {
        val parent = Parent()
        val view = View(parent, 1)
        view.add(HIGH) { view.failure = OutOfMemoryError("test") }
        view.add(LOW)
        view.add(IDLE)
        for (level in listOf(HIGH, LOW, IDLE)) assertTrue(parent.pick(level))
        assertEquals(listOf(HIGH, LOW, IDLE), ran)
        assertEquals(0, view.metrics().workers)
    }

    @Test
    fun slot_hasNoBlockOfItsLevel_withoutMemoryForAnother_isEnqueuedAtTheLevelOfTheBlock() {
        val parent = Parent()
        val view = View(parent, 1)
        view.leaveSlotWithoutBlock()
        view.add(LOW)
        view.failure = OutOfMemoryError("test")
        assertFalse(parent.pick(CRITICAL))
        assertEquals(listOf(LOW), parent.levels)
        assertTrue(parent.pick(LOW))
        assertEquals(listOf(LOW), ran)
    }

    /** Leaves a slot of CRITICAL in the parent. */
    private fun RunQueue.leaveSlotWithoutBlock() {
        val moved = Runnable {}
        enqueue(CRITICAL.ordinal, moved)
        remove(CRITICAL.ordinal, moved)
    }

    @Test
    fun worker_whosePickFails_reportsItAndRunsTheOtherBlocks() {
        val workers = ArrayDeque<Runnable>()
        val underlying =
            object : CoroutineDispatcher() {
                override fun dispatch(context: CoroutineContext, block: Runnable) {
                    workers += block
                }
            }
        val queue = PriorityRunQueue(underlying, 1, PriorityPolicy.Strict, 16)
        val view = View(queue, 1)
        view.leaveSlotWithoutBlock()
        view.add(LOW)
        queue.add(IDLE)
        val failure = StackOverflowError("test").also { view.failure = it }
        val reported = ArrayList<Throwable>()
        reportingTo(reported) { workers.removeFirst().run() }
        assertEquals(listOf<Throwable>(failure), reported)
        assertEquals(listOf(IDLE), ran)
        assertEquals(0, queue.metrics().workers)
    }
}
