package baton.scheduler.dispatch

import baton.Priority.CRITICAL
import baton.Priority.HIGH
import baton.Priority.IDLE
import baton.Priority.LOW
import baton.Priority.NORMAL
import baton.PriorityController
import baton.scheduler.prioritized
import baton.scheduler.withPriority
import baton.scheduler.yieldIfHigherWaiting
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Job
import kotlinx.coroutines.job
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withContext
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Coroutines whose level changes, by withPriority, a controller or a boost, in virtual time. */
class PriorityLevelChangeTest : PriorityFixture() {
    @Test
    fun withPriority_lower_givesWayToMoreUrgentBlocks() = runTest {
        val prioritized = prioritized()
        launch(prioritized + CRITICAL) {
            launch(prioritized + NORMAL) { ran += "normal" }
            withPriority(HIGH) { ran += "high" }
            val answer = withPriority(LOW) {
                ran += "low"
                "answer"
            }
            ran += answer
        }
        testScheduler.runCurrent()
        assertEquals(listOf("high", "normal", "low", "answer"), ran)
    }

    @Test
    fun withPriority_higher_countsFromTheNextSuspension() = runTest {
        val prioritized = prioritized()
        launch(prioritized + LOW) {
            launch(prioritized + NORMAL) { ran += "normal" }
            withPriority(HIGH) {
                ran += "begins"
                yield()
                ran += "high"
            }
        }
        testScheduler.runCurrent()
        assertEquals(listOf("begins", "high", "normal"), ran)
    }

    @Test
    fun yieldIfHigherWaiting_givesWayToMoreUrgentBlocksOnly() = runTest {
        val prioritized = prioritized()
        launch(prioritized + NORMAL) {
            launch(prioritized + NORMAL) { ran += "normal" }
            launch(prioritized + LOW) { ran += "low" }
            yieldIfHigherWaiting()
            ran += "first"
            launch(prioritized + HIGH) { ran += "high" }
            yieldIfHigherWaiting()
            ran += "second"
        }
        testScheduler.runCurrent()
        assertEquals(listOf("first", "high", "normal", "second", "low"), ran)
        yieldIfHigherWaiting() // no PriorityDispatcher
    }

    @Test
    fun withPriority_yieldIfHigherWaiting_noMoreUrgentBlockLeft_doNotSuspend() = runTest {
        val prioritized = prioritized()
        launch(prioritized + HIGH) {
            assertFalse(prioritized.isHigherWaiting(LOW))
            withPriority(LOW) { yieldIfHigherWaiting() }
            ran += "done"
        }
        testScheduler.runCurrent()
        assertEquals(listOf("done"), ran)
        assertEquals(listOf(1L, 0L), listOf(prioritized.metrics[HIGH].picked, prioritized.metrics[LOW].picked))
    }

    @Test
    fun controller_raised_movesQueuedAndLaterBlocks() = runTest {
        val prioritized = prioritized()
        val controller = PriorityController(IDLE)
        launch(prioritized + controller) {
            ran += "controlled 1"
            yield()
            ran += "controlled 2"
        }
        launch(prioritized.level(IDLE) + controller) { ran += "pinned" }
        launch(prioritized + HIGH) { ran += "high" }
        launch(prioritized + NORMAL) {
            ran += "normal"
            controller.level = LOW
        }
        launch(prioritized + LOW) { ran += "low" }
        controller.level = CRITICAL
        testScheduler.runCurrent()
        assertEquals("controlled 1, controlled 2, high, normal, low, pinned", ran.joinToString())
        assertEquals("PriorityController (LOW)", controller.toString())
    }

    @Test
    fun controller_lowered_movesQueuedBlocks() = runTest {
        val prioritized = prioritized()
        val controller = PriorityController(CRITICAL)
        launch(prioritized + controller) { ran += "controlled" }
        launch(prioritized + LOW) { ran += "low" }
        controller.level = IDLE
        controller.level = IDLE
        testScheduler.runCurrent()
        assertEquals(listOf("low", "controlled"), ran)
    }

    @Test
    fun boost_raisesTheCoroutineAndItsChildren_untilItEnds() = runTest {
        val prioritized = prioritized()
        lateinit var holder: Job
        val outer = CoroutineScope(prioritized + LOW + Job(coroutineContext.job))
        holder = outer.launch {
            yield()
            ran += "holder"
            withContext(CRITICAL) { yield() }
            launch {
                ran += "child"
                yield()
                ran += "child again"
            }
        }
        outer.launch {
            yield()
            ran += "other"
        }
        testScheduler.runCurrent()
        ran.clear()
        val boosted = outer.launch(LOW) {
            ran += "boosted 1"
            yield()
            ran += "boosted 2"
        }
        launch(prioritized + NORMAL) { ran += "normal" }
        val context = prioritized + LOW + boosted
        assertEquals(LOW, prioritized.levelOf(context))
        val boost = prioritized.boost(context, HIGH)
        assertEquals(HIGH, prioritized.levelOf(context))
        assertEquals(CRITICAL, prioritized.levelOf(prioritized + CRITICAL + boosted))
        testScheduler.runCurrent()
        assertEquals(listOf("boosted 1", "boosted 2", "normal"), ran)
        boost.end()
        boost.end()
        assertEquals(LOW, prioritized.levelOf(context))
        outer.job().cancel(CancellationException("end of test"))
        assertTrue(holder.isCompleted)
        assertFalse(outer.job().isActive)
    }

    private fun CoroutineScope.job() = coroutineContext.job
}
