package baton.scheduler.tasks

import baton.BatonClock
import baton.Priority
import baton.scheduler.TaskScheduler
import baton.scheduler.TaskSchedulerConfig
import baton.scheduler.TaskTimeoutException
import java.time.Instant
import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.delay
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withContext
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** The run timeout of a task counts from the begin of its block; else it is as a timeout. */
@OptIn(ExperimentalCoroutinesApi::class)
class TaskRunTimeoutTest {
    private fun TestScope.scheduler() = TaskScheduler(backgroundScope, 1, "pages")

    private fun TaskScheduler.ends() =
        metrics[Priority.NORMAL].run { listOf(done, failed, cancelled, expired, running.toLong()) }

    @Test
    fun task_thatWaitsForLonger_hasItsWholeTime() = runTest {
        val scheduler = scheduler()
        scheduler.schedule { delay(10.seconds) }
        val brief = scheduler.schedule(runTimeout = 3.seconds) { delay(2.seconds) }
        val long = scheduler.submit(runTimeout = 3.seconds) { delay(4.seconds) }
        brief.await()
        assertEquals(12_000L, currentTime)
        assertThrows<TaskTimeoutException> { long.await() }
        assertEquals(15_000L, currentTime)
        assertThrows<TaskTimeoutException> { scheduler.run(runTimeout = 3.seconds) { delay(4.seconds) } }
        assertEquals(listOf(2L, 2L, 0L, 0L, 0L), scheduler.ends())
    }

    @Test
    fun failure_ofEachLimit_saysWhichTaskOfWhichSchedulerAndHowLongItRan() = runTest {
        val scheduler = scheduler()
        val state = "TaskScheduler 'pages' (maxConcurrency = 1, running = 1, queued = 0, waiting = 0)"
        val about = "ScheduledTask 'page' of priority LOW has not ended within"
        suspend fun message(timeout: Duration?, runTimeout: Duration?) =
            assertThrows<TaskTimeoutException> {
                    scheduler.run(Priority.LOW, "page", timeout = timeout, runTimeout = runTimeout) { delay(9.seconds) }
                }
                .message
        assertEquals("$about 3s of its start: $state", message(null, 3.seconds))
        assertEquals("$about 3s, of which it ran for 3s: $state", message(3.seconds, 4.seconds))
        scheduler.schedule { delay(2.seconds) }
        assertEquals("$about 3s, of which it ran for 1s: $state", message(3.seconds, 4.seconds))
        scheduler.schedule { delay(9.seconds) }
        val queued = state.replace("queued = 0", "queued = 1")
        assertEquals("$about 3s, and was not started: $queued", message(3.seconds, 4.seconds))
    }

    @Test
    fun slot_ofATaskThatHeedsNoCancellation_isFreeWhenItEnds_andItHasFailed() = runTest {
        val scheduler = scheduler()
        val task =
            scheduler.schedule(runTimeout = 3.seconds) {
                withContext(NonCancellable) { delay(10.seconds) }
                5
            }
        val next = scheduler.schedule { currentTime }
        assertThrows<TaskTimeoutException> { task.await() }
        assertEquals(10_000L, next.await())
        assertEquals(listOf(1L, 1L, 0L, 0L, 0L), scheduler.ends())
    }

    @Test
    fun timer_ofATaskThatHasEnded_isGone() = runTest {
        var timers = 0
        val clock =
            object : BatonClock {
                override fun instant(): Instant = Instant.EPOCH

                override fun nanoTime() = 0L

                override fun schedule(delay: java.time.Duration, task: Runnable): AutoCloseable {
                    timers++
                    return AutoCloseable { timers-- }
                }
            }
        val scheduler = TaskScheduler(backgroundScope, 1, config = TaskSchedulerConfig(clock = clock))
        assertEquals(1, scheduler.run(timeout = 3.seconds, runTimeout = 3.seconds) { timers - 1 })
        assertEquals(0, timers)
    }

    @Test
    fun clock_thatThrows_failsTheTask_whoseBlockDoesNotBegin() = runTest {
        val clock =
            object : BatonClock {
                override fun instant(): Instant = Instant.EPOCH

                override fun nanoTime() = 0L

                override fun schedule(delay: java.time.Duration, task: Runnable) = error("no timer")
            }
        val scheduler = TaskScheduler(backgroundScope, 1, config = TaskSchedulerConfig(clock = clock))
        var begun = false
        val task = scheduler.schedule(runTimeout = 3.seconds) { begun = true }
        assertEquals("no timer", assertThrows<IllegalStateException> { task.await() }.message)
        assertTrue(!begun && scheduler.metrics.running == 0)
    }

    @Test
    fun runTimeout_thatIsNotPositive_isRefused_andAnInfiniteOneIsNone() = runTest {
        val scheduler = scheduler()
        val refusal = assertThrows<IllegalArgumentException> { scheduler.schedule(runTimeout = Duration.ZERO) {} }
        assertEquals("runTimeout = 0s, must be positive", refusal.message)
        scheduler.run(runTimeout = Duration.INFINITE) { delay(1000.seconds) }
    }
}
