package baton.scheduler.tasks

import baton.BatonClock
import baton.Priority
import baton.scheduler.TaskScheduler
import baton.scheduler.TaskSchedulerConfig
import baton.scheduler.TaskTimeoutException
import java.io.IOException
import java.time.Instant
import java.util.concurrent.Executors
import java.util.concurrent.RejectedExecutionException
import kotlin.coroutines.CoroutineContext
import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.Runnable
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** The timeout of a task counts from its submission to its end. */
@OptIn(ExperimentalCoroutinesApi::class)
class TaskTimeoutTest {
    private fun TestScope.scheduler(slots: Int = 1) = TaskScheduler(backgroundScope, slots, "pages")

    private fun TaskScheduler.ends() =
        metrics[Priority.NORMAL].run { listOf(done, failed, cancelled, expired, withdrawn, running.toLong()) }

    private suspend fun failureOf(call: suspend () -> Unit): TaskTimeoutException =
        assertThrows<TaskTimeoutException> { call() }

    @Test
    fun task_thatRunsTooLong_isCancelled_andFailsForItsCaller() = runTest {
        val scheduler = scheduler()
        var cleanedUp = -1L
        val task =
            scheduler.schedule(key = "page", timeout = 3.seconds) {
                try {
                    awaitCancellation()
                } finally {
                    cleanedUp = currentTime
                }
            }
        assertEquals(
            "ScheduledTask 'page' of priority NORMAL has not ended within 3s, of which it ran for 3s: " +
                "TaskScheduler 'pages' (maxConcurrency = 1, running = 1, queued = 0, waiting = 0)",
            failureOf { task.await() }.message,
        )
        assertEquals(3000L, cleanedUp)
        assertEquals(3000L, currentTime)
        assertEquals(listOf(0L, 1L, 0L, 0L, 0L, 0L), scheduler.ends())
    }

    @Test
    fun task_thatWaitsTooLong_leavesTheQueue() = runTest {
        val scheduler = scheduler()
        scheduler.schedule { delay(10.seconds) }
        val task = scheduler.schedule(timeout = 3.seconds) { error("must not run") }
        failureOf { task.await() }
        assertEquals(3000L, currentTime)
        assertEquals(0, scheduler.metrics.queued)
        assertEquals(listOf(0L, 0L, 0L, 1L, 0L, 1L), scheduler.ends())
    }

    @Test
    fun waitAndRun_countTogether() = runTest {
        val scheduler = scheduler()
        scheduler.schedule { delay(2.seconds) }
        failureOf { scheduler.run(timeout = 3.seconds) { delay(2.seconds) } }
        assertEquals(3000L, currentTime)
        assertEquals(5, scheduler.run(timeout = 3.seconds) { delay(2.seconds).let { 5 } })
    }

    @Test
    fun submitterThatWaitsForCapacity_isToldInTime() = runTest {
        val scheduler = TaskScheduler(backgroundScope, 1, config = TaskSchedulerConfig(capacity = 0))
        scheduler.schedule { delay(10.seconds) }
        val task = scheduler.submit(timeout = 3.seconds) {}
        assertEquals(3000L, currentTime)
        failureOf { task.await() }
    }

    @Test
    fun slot_ofATaskThatHeedsNoCancellation_isFreeWhenItEnds() = runTest {
        val scheduler = scheduler()
        val task = scheduler.schedule(timeout = 3.seconds) { withContext(NonCancellable) { delay(10.seconds) } }
        val next = scheduler.schedule { currentTime }
        failureOf { task.await() }
        assertEquals(10_000L, next.await())
    }

    @Test
    fun valuesAndFailures_beforeTheTimeout_areTheTasksOwn() = runTest {
        val scheduler = scheduler()
        assertEquals(1, scheduler.schedule(timeout = 3.seconds) { delay(2.seconds).let { 1 } }.await())
        val failed = scheduler.schedule(timeout = 3.seconds) { throw IOException("own") }
        assertEquals("own", assertThrows<IOException> { failed.await() }.message)
        val nested = scheduler.schedule(timeout = 3.seconds) { withTimeout(1.seconds) { awaitCancellation() } }
        assertInstanceOf(CancellationException::class.java, runCatching { nested.await() }.exceptionOrNull())
        delay(10.seconds)
        assertEquals(listOf(1L, 1L, 1L, 0L, 0L, 0L), scheduler.ends())
    }

    @Test
    fun failureInTheCleanUp_isSuppressedInTheTimeout() = runTest {
        val task =
            scheduler().schedule(timeout = 3.seconds) {
                try {
                    awaitCancellation()
                } finally {
                    throw IOException("clean up")
                }
            }
        task.join()
        assertEquals(listOf("clean up"), task.getCompletionExceptionOrNull()?.suppressed?.map { it.message })
    }

    @Test
    fun cancel_duringTheCleanUpAfterTheTimeout_isACancellation() = runTest {
        val scheduler = scheduler()
        val task = scheduler.schedule(timeout = 3.seconds) { withContext(NonCancellable) { delay(10.seconds) } }
        delay(5.seconds)
        task.cancel()
        task.join()
        assertEquals(listOf(0L, 0L, 1L, 0L, 0L, 0L), scheduler.ends())
    }

    @Test
    fun child_ofTheBlock_isInItsScope_andEndsWithTheTimeout() = runTest {
        var ended = false
        val task =
            scheduler().schedule(timeout = 3.seconds) {
                launch {
                    try {
                        awaitCancellation()
                    } finally {
                        ended = true
                    }
                }
            }
        failureOf { task.await() }
        assertTrue(ended)
    }

    @Test
    fun timeout_thatIsNotPositive_isRefused_andAnInfiniteOneIsNone() = runTest {
        val scheduler = scheduler()
        for (timeout in listOf(Duration.ZERO, (-1).seconds, -Duration.INFINITE)) {
            val refusal = assertThrows<IllegalArgumentException> { scheduler.schedule(timeout = timeout) {} }
            assertEquals("timeout = $timeout, must be positive", refusal.message)
            assertThrows<IllegalArgumentException> { scheduler.run(timeout = timeout) {} }
        }
        assertEquals(0L, scheduler.metrics[Priority.NORMAL].scheduled)
        scheduler.schedule(timeout = Duration.INFINITE) { delay(1000.seconds) }.await()
    }

    /** As a pool on `shutdownNow`, or with a `DiscardPolicy`. */
    private val drops =
        object : CoroutineDispatcher() {
            override fun dispatch(context: CoroutineContext, block: Runnable) {}
        }

    @Test
    fun startThatIsDroppedByItsPool_failsInTime() = runTest {
        val scheduler = scheduler()
        val task = scheduler.schedule(timeout = 3.seconds, context = drops) {}
        failureOf { task.await() }
        assertEquals(3000L, currentTime)
        assertEquals(0, scheduler.metrics.running)
    }

    @Test
    fun awaitIdle_waitsForRunningAndQueuedTasks_andClosesNothing() = runTest {
        val scheduler = scheduler()
        scheduler.awaitIdle()
        repeat(3) { scheduler.schedule { delay(1.seconds) } }
        scheduler.awaitIdle()
        assertEquals(3000L, currentTime)
        assertEquals(1, scheduler.run { 1 })
        scheduler.pause()
        val paused = scheduler.schedule {}
        val waiting = async { scheduler.awaitIdle() }
        delay(1.seconds)
        assertTrue(waiting.isActive)
        paused.cancel()
        waiting.await()
    }

    @Test
    fun awaitIdle_ofManyCallers_cancelled_leavesTheOthers() = runTest {
        val scheduler = scheduler()
        val gate = CompletableDeferred<Unit>()
        scheduler.schedule { gate.await() }
        val waits = List(3) { async { scheduler.awaitIdle() } }
        runCurrent()
        waits[1].cancel()
        runCurrent()
        gate.complete(Unit)
        waits[0].await()
        waits[2].await()
    }

    /** The intake of a scheduler whose capacity is unbounded has a way without the lock. */
    @Test
    fun awaitIdle_seesTasksThatNoStepHasProcessed() = runTest {
        val scheduler = scheduler()
        val gate = CompletableDeferred<Unit>()
        scheduler.schedule { gate.await() }
        runCurrent()
        val last = scheduler.schedule { delay(1.seconds) }
        val waiting = async { scheduler.awaitIdle().let { last.isCompleted } }
        runCurrent()
        gate.complete(Unit)
        assertTrue(waiting.await())
    }

    @Test
    fun awaitIdle_whileTheSchedulerIsClosed_returnsAfterTheRunningTasks() = runTest {
        val scheduler = scheduler()
        scheduler.schedule { delay(3.seconds) }
        scheduler.schedule {}
        runCurrent()
        scheduler.close()
        scheduler.awaitIdle()
        assertEquals(3000L, currentTime)
        scheduler.drain()
        scheduler.awaitIdle()
    }

    @Test
    fun clear_cancelsWhatWaits_andNothingElse() = runTest {
        val scheduler = TaskScheduler(backgroundScope, 1, config = TaskSchedulerConfig(capacity = 2))
        val running = scheduler.schedule { delay(1.seconds).let { 1 } }
        val queued = List(2) { scheduler.schedule(key = it) { 2 } }
        val submitter = async { scheduler.submit { 3 } }
        runCurrent()
        assertEquals(3, scheduler.clear())
        assertEquals(0, scheduler.clear())
        assertTrue(queued.all { it.isCancelled })
        assertTrue(submitter.await().isCancelled)
        assertEquals(1, running.await())
        assertEquals(4, scheduler.run { 4 })
        assertEquals(listOf(2L, 0L, 0L, 0L, 3L, 0L), scheduler.ends())
        assertEquals(emptyList<Any>(), scheduler.tasks(0))
    }

    @Test
    fun clear_fromATask_leavesItAlone() = runTest {
        val scheduler = scheduler()
        val first = scheduler.schedule { delay(1.seconds).let { scheduler.clear() } }
        val second = scheduler.schedule {}
        assertEquals(1, first.await())
        assertTrue(second.isCancelled)
        scheduler.awaitIdle()
    }

    /** Its timers pass at once: before the task is queued. */
    private class HastyClock : BatonClock {
        override fun instant(): Instant = Instant.EPOCH

        override fun nanoTime() = 0L

        override fun schedule(delay: java.time.Duration, task: Runnable): AutoCloseable {
            task.run()
            return AutoCloseable {}
        }
    }

    @Test
    fun timeout_thatPassesBeforeTheTaskIsQueued_endsIt_andItsBlockDoesNotBegin() = runTest {
        val config = TaskSchedulerConfig(clock = HastyClock())
        val scheduler = TaskScheduler(backgroundScope, 1, config = config)
        var begun = 0
        val started = scheduler.schedule(timeout = 3.seconds) { begun++ }
        assertEquals(0, failureOf { started.await() }.suppressed.size)
        scheduler.schedule { awaitCancellation() }
        runCurrent()
        val queued = scheduler.schedule(timeout = 3.seconds) { begun++ }
        assertTrue(queued.isCompleted)
        failureOf { queued.await() }
        assertEquals(0, begun)
        assertEquals(listOf(0L, 1L, 0L, 1L, 0L, 1L), scheduler.ends())
    }

    /**
     * The timer found no start to end, and the start that came afterwards was lost: the task held its slot for ever.
     */
    @Test
    fun timeout_thatPassesBeforeTheStart_endsATaskWhoseStartIsDropped() = runTest {
        val scheduler = TaskScheduler(backgroundScope, 1, config = TaskSchedulerConfig(clock = HastyClock()))
        val task = scheduler.schedule(timeout = 3.seconds, context = drops) {}
        assertTrue(task.isCompleted)
        assertEquals(0, failureOf { task.await() }.suppressed.size)
        assertEquals(listOf(0L, 1L, 0L, 0L, 0L, 0L), scheduler.ends())
        assertEquals(1, scheduler.run { 1 })
    }

    @Test
    fun startThatIsRejected_failsTheTask_andFreesItsSlot() = runTest {
        val rejects =
            object : CoroutineDispatcher() {
                override fun dispatch(context: CoroutineContext, block: Runnable) =
                    throw RejectedExecutionException("full")
            }
        val pool = Executors.newSingleThreadExecutor().also { it.shutdown() }.asCoroutineDispatcher()
        for (dispatcher in listOf(rejects, pool)) {
            val scheduler = scheduler()
            val task = scheduler.schedule(timeout = 3.seconds, context = dispatcher) { error("must not run") }
            task.join()
            val failure = task.getCompletionExceptionOrNull()
            val cause = if (failure is CancellationException) failure.cause else failure
            assertInstanceOf(RejectedExecutionException::class.java, cause)
            assertEquals(1, scheduler.run { 1 })
        }
    }

    /** It counts as failed, also if the block returns a value that its caller does not get. */
    @Test
    fun task_whoseBlockReturnsAfterTheTimeout_hasFailed() = runTest {
        val scheduler = scheduler()
        val task =
            scheduler.schedule(timeout = 3.seconds) {
                withContext(NonCancellable) { delay(10.seconds) }
                5
            }
        delay(5.seconds)
        assertTrue(task.isActive)
        failureOf { task.await() }
        assertEquals(listOf(0L, 1L, 0L, 0L, 0L, 0L), scheduler.ends())
    }
}
