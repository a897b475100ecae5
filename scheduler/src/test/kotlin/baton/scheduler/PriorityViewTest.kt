package baton.scheduler

import baton.Priority.CRITICAL
import baton.Priority.HIGH
import baton.Priority.IDLE
import baton.Priority.LOW
import baton.Priority.NORMAL
import baton.sync.assertContains
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Views by level, and views of which only so many blocks run at a time. */
class PriorityViewTest : PriorityFixture() {
    @Test
    fun `level of a view counts and not that of the context`() = runTest {
        val prioritized = prioritized()
        launch(prioritized.level(IDLE) + CRITICAL) { ran += "idle" }
        launch(prioritized + HIGH) { ran += "high" }
        launch(prioritized.level(IDLE).level(CRITICAL)) { ran += "critical" }
        testScheduler.runCurrent()
        assertEquals(listOf("critical", "high", "idle"), ran)
    }

    @Test
    fun `view of one takes its turns among the levels of the dispatcher`() = runTest {
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
    fun `urgent work in a view does not wait behind the view's less urgent turn`() = runTest {
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
    fun `urgent work in a view is not left behind when a due level takes its turn`() = runTest {
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
    fun `block of a view does not run in the slot of a more urgent one that has run before`() = runTest {
        val prioritized = prioritized(1, PriorityPolicy.Bounded(idle = 3))
        val view = prioritized.limitedParallelism(1, "view")
        launch(view + IDLE) { ran += "idle" }
        // Those pass the IDLE slot of the view over, which is due then.
        repeat(3) { launch(prioritized + CRITICAL) { if (it == 2) launch(view + CRITICAL) { ran += "critical" } } }
        launch(prioritized + HIGH) { ran += "high" }
        testScheduler.runCurrent()
        assertEquals(listOf("critical", "high", "idle"), ran)
    }

    @Test
    fun `isHigherWaiting leaves out what a full view cannot run`() = runTest {
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
    fun `slots of a view do not pile up`() = runTest {
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
