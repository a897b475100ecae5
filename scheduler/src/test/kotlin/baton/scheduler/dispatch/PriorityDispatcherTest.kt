package baton.scheduler.dispatch

import baton.Priority
import baton.Priority.CRITICAL
import baton.Priority.HIGH
import baton.Priority.IDLE
import baton.Priority.LOW
import baton.Priority.NORMAL
import baton.reportingTo
import baton.scheduler.PriorityPolicy
import baton.scheduler.prioritized
import baton.sync.assertContains
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.time.Duration
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.nanoseconds
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.Runnable
import kotlinx.coroutines.async
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.StandardTestDispatcher
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withContext
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test

/** Order, failures, quantum, policies and metrics of the dispatcher, in virtual time. */
@Tag("jdk")
class PriorityDispatcherTest : PriorityFixture() {
    @Test
    fun dispatch_severalLevels_mostUrgentFirst_eachLevelInOrder() = runTest {
        val prioritized = prioritized()
        for (i in 1..2) {
            for (level in Priority.entries.reversed()) launch(prioritized + level) { ran += "$level $i" }
            launch(prioritized) { ran += "no level $i" }
        }
        testScheduler.runCurrent()
        assertEquals(
            "CRITICAL 1, CRITICAL 2, HIGH 1, HIGH 2, NORMAL 1, no level 1, NORMAL 2, no level 2, " +
                "LOW 1, LOW 2, IDLE 1, IDLE 2",
            ran.joinToString(),
        )
    }

    @Test
    fun dispatch_moreUrgentAfterTheWorkerWasDispatched_runsFirst() = runTest {
        val busy = StandardTestDispatcher(testScheduler)
        val prioritized = busy.prioritized(1)
        launch(busy) { launch(prioritized + CRITICAL) { ran += "critical" } }
        // Its worker is queued already when the other coroutine dispatches CRITICAL.
        launch(prioritized + LOW) { ran += "low" }
        testScheduler.runCurrent()
        assertEquals(listOf("critical", "low"), ran)

        ran.clear()
        launch(prioritized + LOW) {
            ran += "low"
            launch(prioritized + CRITICAL) { ran += "critical" }
        }
        launch(prioritized + LOW) { ran += "low" }
        testScheduler.runCurrent()
        assertEquals(listOf("low", "critical", "low"), ran)
    }

    @Test
    fun default_isTheLevelOfCoroutinesWithoutOne() = runTest {
        val prioritized = prioritized(default = LOW)
        launch(prioritized) { ran += "nothing" }
        launch(prioritized + NORMAL) { ran += "normal" }
        testScheduler.runCurrent()
        assertEquals(listOf("normal", "nothing"), ran)
    }

    @Test
    fun yield_requeuesBehindItsOwnLevel() = runTest {
        val prioritized = prioritized()
        for (level in listOf(LOW, HIGH)) {
            for (i in 1..2) {
                launch(prioritized + level) {
                    ran += "$level $i"
                    yield()
                    ran += "$level $i again"
                }
            }
        }
        testScheduler.runCurrent()
        assertEquals(
            "HIGH 1, HIGH 2, HIGH 1 again, HIGH 2 again, LOW 1, LOW 2, LOW 1 again, LOW 2 again",
            ran.joinToString(),
        )
    }

    @Test
    fun coroutine_cancelledWhileQueued_runsAndSeesIt() = runTest {
        val prioritized = prioritized()
        val job =
            launch(prioritized) {
                try {
                    delay(1.hours)
                } finally {
                    withContext(NonCancellable) { ran += "cleaned up" }
                }
            }
        testScheduler.runCurrent()
        job.cancel()
        val never = async(prioritized) { ran += "never" }
        never.cancel()
        testScheduler.runCurrent()
        assertEquals(listOf("cleaned up"), ran)
        assertTrue(job.isCompleted && never.isCompleted)
        assertEquals(0, currentTime)
    }

    @Test
    fun block_throws_othersContinue() = runTest {
        reportingTo({ ran += "${it.message}" }) {
            val prioritized = prioritized()
            prioritized.dispatch(EmptyCoroutineContext) { throw IllegalStateException("broken") }
            prioritized.limitedParallelism(1, "view").dispatch(EmptyCoroutineContext) { error("broken, too") }
            launch(prioritized) { ran += "goes on" }
            testScheduler.runCurrent()
            assertEquals(listOf("broken", "broken, too", "goes on"), ran)
            assertEquals(0, prioritized.metrics.workers)
        }
    }

    @Test
    fun delay_virtualTime_resumesByLevel() = runTest {
        val prioritized = prioritized()
        for (level in listOf(LOW, CRITICAL)) {
            val view = prioritized.limitedParallelism(1, "view")
            for (dispatcher in listOf(prioritized, prioritized.level(level), view)) {
                launch(dispatcher + level) {
                    delay(1.hours)
                    ran += "$level"
                }
            }
        }
        delay(1.hours + 1.hours / 2)
        assertEquals(List(3) { "CRITICAL" } + List(3) { "LOW" }, ran)
        assertEquals(1.5.hours.inWholeMilliseconds, currentTime)
    }

    @Test
    fun quantum_reached_givesWayToOthersOnTheUnderlyingDispatcher() = runTest {
        val underlying = StandardTestDispatcher(testScheduler)
        val first = underlying.prioritized(1, quantum = 3)
        repeat(5) { launch(first) { ran += "first" } }
        launch(underlying) { ran += "other" }
        testScheduler.runCurrent()
        assertEquals(listOf("first", "first", "first", "other", "first", "first"), ran)
    }

    @Test
    fun policies_decideTheOrderOfBlocks() = runTest {
        fun order(policy: PriorityPolicy): String {
            ran.clear()
            val prioritized = prioritized(policy = policy)
            repeat(6) { launch(prioritized + HIGH) { ran += "H" } }
            repeat(2) { launch(prioritized + NORMAL) { ran += "N" } }
            repeat(2) { launch(prioritized + LOW) { ran += "L" } }
            testScheduler.runCurrent()
            return ran.joinToString("")
        }
        assertEquals("HHHHHHNNLL", order(PriorityPolicy.Strict))
        assertEquals("HHHNLHHNHL", order(PriorityPolicy.Bounded(normal = 3, low = 4)))
        assertEquals("HNLHHNHHLH", order(PriorityPolicy.Shares(high = 4, normal = 2, low = 1)))
    }

    @Test
    fun dispatcher_runsRequeuedWorkersInPlace_doesNotNest() {
        var depth = 0
        var deepest = 0
        val callerRuns =
            object : CoroutineDispatcher() {
                override fun dispatch(context: CoroutineContext, block: Runnable) {
                    deepest = maxOf(deepest, ++depth)
                    block.run()
                    depth--
                }
            }
        val prioritized = callerRuns.prioritized(1)
        var count = 0
        prioritized.dispatch(EmptyCoroutineContext) {
            repeat(1000) { prioritized.dispatch(EmptyCoroutineContext) { count++ } }
        }
        assertEquals(1000, count)
        assertEquals(2, deepest)
        assertEquals(0, prioritized.metrics.workers)
    }

    @Test
    fun shares_levelServedOutOfOrder_takesNoPicksFromALaterLevel() {
        val selector = SharesSelector(intArrayOf(1000, 400, 100, 40, 10))
        val high = 1 shl HIGH.ordinal
        val idle = 1 shl IDLE.ordinal
        repeat(100) {
            repeat(3) { selector.recordSelected(selector.select(high or idle), high or idle) }
            selector.recordSelected(IDLE.ordinal, high or idle)
        }
        val all = 1 or high or idle
        var picks = 0
        while (selector.select(all) != CRITICAL.ordinal) {
            selector.recordSelected(selector.select(all), all)
            picks++
        }
        assertTrue(picks <= 2, "$picks")
    }

    @Test
    fun metrics_waits_areSampledInRealTime() = runTest {
        val prioritized = prioritized()
        val begin = System.nanoTime()
        repeat(6400) { prioritized.level(HIGH).dispatch(EmptyCoroutineContext) { ran += "x" } }
        assertEquals(0L, prioritized.metrics[HIGH].sampledWaits)
        testScheduler.runCurrent()
        val most = (System.nanoTime() - begin).nanoseconds
        val high = prioritized.metrics[HIGH]
        assertTrue(high.sampledWaits in 1L..600L) { "$high" }
        assertTrue(high.meanWait in Duration.ZERO..high.longestWait) { "$high" }
        assertTrue(high.longestWait in 1.nanoseconds..most) { "$high of $most" }
        val low = prioritized.metrics[LOW]
        assertEquals(listOf(0L, Duration.ZERO, Duration.ZERO), listOf(low.sampledWaits, low.meanWait, low.longestWait))
    }

    @Test
    fun metrics_countPickedAndQueuedBlocks() = runTest {
        val prioritized = prioritized(policy = PriorityPolicy.Bounded(low = 3))
        repeat(5) { launch(prioritized + HIGH) {} }
        launch(prioritized + LOW) {}
        assertEquals(5, prioritized.metrics[HIGH].queued)
        assertEquals(1, prioritized.metrics.workers)
        testScheduler.runCurrent()
        val metrics = prioritized.metrics
        assertEquals(listOf(0L, 5L, 0L, 1L, 0L), Priority.entries.map { metrics[it].picked })
        assertEquals(1L, metrics[LOW].outOfTurn)
        assertEquals(0, metrics[HIGH].queued + metrics.workers)
        assertContains(metrics.toString(), "workers = 0", "LOW: queued = 0, picked = 1, out of turn = 1")
    }
}
