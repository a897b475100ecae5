package baton.scheduler.dispatch

import baton.Priority.CRITICAL
import baton.Priority.HIGH
import baton.Priority.IDLE
import baton.Priority.LOW
import baton.Priority.NORMAL
import baton.PriorityController
import baton.scheduler.PriorityPolicy
import baton.scheduler.prioritized
import baton.scheduler.withPriority
import baton.scheduler.yieldIfHigherWaiting
import baton.sync.assertContains
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test

/** Views by level, views that limit the parallelism, and coroutines whose level changes. */
@Tag("jdk")
class PriorityLevelTest : PriorityFixture() {
    @Test
    fun viewByLevel_ignoresTheLevelOfTheContext() = runTest {
        val prioritized = prioritized()
        launch(prioritized.level(IDLE) + CRITICAL) { ran += "idle" }
        launch(prioritized + HIGH) { ran += "high" }
        launch(prioritized.level(IDLE).level(CRITICAL)) { ran += "critical" }
        testScheduler.runCurrent()
        assertEquals(listOf("critical", "high", "idle"), ran)
    }

    @Test
    fun viewOfOne_blocksOfSeveralLevels_runAmongTheDispatchersLevels() = runTest {
        val prioritized = prioritized(2)
        val view = prioritized.limitedParallelism(1, "view")
        for (level in listOf(LOW, CRITICAL, HIGH)) {
            repeat(2) {
                launch(view + level) {
                    ran += "$level"
                    yield()
                }
            }
        }
        launch(prioritized + NORMAL) { ran += "NORMAL" }
        testScheduler.runCurrent()
        assertEquals("CRITICAL, CRITICAL, HIGH, HIGH, NORMAL, LOW, LOW", ran.joinToString())
        assertContains(view.toString(), "'view'", "parallelism = 1")
    }

    @Test
    fun view_dueLevelPicked_urgentBlocksStillRunAtTheirLevel() = runTest {
        val prioritized = prioritized(1, PriorityPolicy.Bounded(low = 3))
        val view = prioritized.limitedParallelism(2, "view")
        repeat(2) { launch(view + LOW) { ran += "low" } }
        repeat(20) { launch(view + CRITICAL) { ran += "critical" } }
        repeat(40) { launch(prioritized + NORMAL) { ran += "normal" } }
        testScheduler.runCurrent()
        assertEquals(20, ran.take(ran.indexOf("normal")).count { it == "critical" })
        assertEquals(62, ran.size)
    }

    @Test
    fun view_blockAfterAMoreUrgentOneHasRun_doesNotUseItsSlot() = runTest {
        val prioritized = prioritized(1, PriorityPolicy.Bounded(idle = 3))
        val view = prioritized.limitedParallelism(1, "view")
        launch(view + IDLE) { ran += "idle" }
        // These pass over the view's IDLE slot, which then has reached its bound.
        repeat(3) { launch(prioritized + CRITICAL) { if (it == 2) launch(view + CRITICAL) { ran += "critical" } } }
        launch(prioritized + HIGH) { ran += "high" }
        testScheduler.runCurrent()
        assertEquals(listOf("critical", "high", "idle"), ran)
    }

    @Test
    fun isHigherWaiting_blocksThatAFullViewCannotRun_doNotCount() = runTest {
        val prioritized = prioritized(2)
        val view = prioritized.limitedParallelism(1, "view")
        launch(view + LOW) {
            launch(view + HIGH) { ran += "high" }
            assertTrue(view.isHigherWaiting(LOW))
            assertFalse(view.isHigherWaiting(HIGH))
            assertFalse(prioritized.isHigherWaiting(LOW))
            launch(prioritized + NORMAL) { ran += "normal" }
            assertTrue(prioritized.isHigherWaiting(LOW))
        }
        testScheduler.runCurrent()
        assertEquals(2, ran.size)
        assertFalse(view.isHigherWaiting(IDLE) || prioritized.isHigherWaiting(IDLE))
    }

    @Test
    fun withPriority_lower_givesWayToMoreUrgentBlocks() = runTest {
        val prioritized = prioritized()
        launch(prioritized + CRITICAL) {
            launch(prioritized + NORMAL) { ran += "normal" }
            withPriority(HIGH) { ran += "high" }
            val answer =
                withPriority(LOW) {
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
}
