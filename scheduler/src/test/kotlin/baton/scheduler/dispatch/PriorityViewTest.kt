package baton.scheduler.dispatch

import baton.Priority.CRITICAL
import baton.Priority.HIGH
import baton.Priority.IDLE
import baton.Priority.LOW
import baton.Priority.NORMAL
import baton.scheduler.PriorityPolicy
import baton.scheduler.prioritized
import baton.sync.assertContains
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Views by level, and views that limit the parallelism. */
class PriorityViewTest : PriorityFixture() {
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
    fun view_urgentBlock_doesNotWaitForTheViewsDueLevel() = runTest {
        val prioritized = prioritized(1)
        val view = prioritized.limitedParallelism(1, "view")
        launch(view + IDLE) { ran += "idle" }
        repeat(3) { launch(prioritized + HIGH) { ran += "high" } }
        launch(view + CRITICAL) { ran += "critical" }
        testScheduler.runCurrent()
        assertEquals(listOf("critical", "high", "high", "high", "idle"), ran)
        assertEquals(0, view.metrics.workers + prioritized.metrics.workers)
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
    fun view_manyDispatches_slotsStayBounded() = runTest {
        val prioritized = prioritized(1, PriorityPolicy.Strict)
        val view = prioritized.limitedParallelism(1, "view")
        launch(view + LOW) { ran += "low" }
        var urgent = 0
        launch(prioritized + HIGH) {
            repeat(1000) {
                launch(view + CRITICAL) { urgent++ }
                yield()
            }
            assertEquals(1, prioritized.metrics[LOW].queued)
        }
        testScheduler.runCurrent()
        assertEquals(1000, urgent)
        assertEquals(listOf("low"), ran)
    }
}
