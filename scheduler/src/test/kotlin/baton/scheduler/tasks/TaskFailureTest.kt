package baton.scheduler.tasks

import baton.Refusal
import baton.scheduler.OnFullQueue
import baton.scheduler.TaskDeadlineException
import baton.scheduler.TaskRejectedException
import baton.scheduler.TaskScheduler
import baton.scheduler.TaskSchedulerConfig
import baton.scheduler.TaskTimeoutException
import java.io.IOException
import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** The listener gets each failure of a task once. */
@OptIn(ExperimentalCoroutinesApi::class)
class TaskFailureTest {
    private val failures = ArrayList<Pair<Any?, Throwable>>()

    private fun TestScope.scheduler(capacity: Int = Int.MAX_VALUE) =
        TaskScheduler(
            backgroundScope,
            1,
            config =
                TaskSchedulerConfig(
                    capacity = capacity,
                    onFull = OnFullQueue.REJECT,
                    onFailure = { key, failure -> failures += key to failure },
                ),
        )

    @Test
    fun failure_ofATaskWithoutAnAwaiter_reachesTheListenerOnce() = runTest {
        val scheduler = scheduler()
        val failure = IOException("own")
        scheduler.schedule(key = "page") { throw failure }
        scheduler.schedule { delay(1.seconds) }
        scheduler.drain()
        assertEquals(listOf<Pair<Any?, Throwable>>("page" to failure), failures)
    }

    @Test
    fun failure_thatACallerAwaits_reachesBoth() = runTest {
        val failure = IOException("own")
        assertThrows<IOException> { scheduler().run { throw failure } }
        assertSame(failure, failures.single().second)
    }

    @Test
    fun timeouts_andRefusals_areFailures() = runTest {
        val scheduler = scheduler(capacity = 1)
        scheduler.schedule(runTimeout = 2.seconds) { awaitCancellation() }
        scheduler.schedule(timeout = 1.seconds) {}
        scheduler.schedule {}
        assertInstanceOf(TaskRejectedException::class.java, failures.single().second)
        scheduler.schedule(deadline = Duration.ZERO) {}
        assertInstanceOf(TaskDeadlineException::class.java, failures.last().second)
        scheduler.awaitIdle()
        assertEquals(List(2) { TaskTimeoutException::class.java }, failures.drop(2).map { it.second.javaClass })
        scheduler.close()
        scheduler.schedule {}
        assertTrue(failures.last().second is Refusal)
        assertEquals(5, failures.size)
    }

    @Test
    fun cancellation_isNoFailure() = runTest {
        val scheduler = scheduler()
        val running = scheduler.schedule { awaitCancellation() }
        val queued = scheduler.schedule {}
        runCurrent()
        queued.cancel()
        running.cancel()
        scheduler.schedule { throw CancellationException("own") }
        scheduler.schedule { withTimeout(1.seconds) { awaitCancellation() } }
        scheduler.awaitIdle()
        assertEquals(emptyList<Any>(), failures)
    }

    @Test
    fun failure_ofTheCleanUpOfACancelledTask_reachesTheListener() = runTest {
        val task =
            scheduler().schedule {
                try {
                    awaitCancellation()
                } finally {
                    throw IOException("clean up")
                }
            }
        runCurrent()
        task.cancel()
        runCurrent()
        assertEquals("clean up", failures.single().second.message)
    }

    @Test
    fun listener_isCalledAfterTheSlotIsFree_andBeforeTheEndOfAllTasks() = runBlocking {
        val log = ArrayList<String>()
        lateinit var scheduler: TaskScheduler
        lateinit var failed: Deferred<*>
        val config =
            TaskSchedulerConfig(
                onFailure = { _, _ ->
                    // A look reports the end of a task that is completed.
                    log += "completed = ${failed.isCompleted}, running = ${scheduler.metrics.running}"
                }
            )
        scheduler = TaskScheduler(CoroutineScope(Dispatchers.Unconfined), 1, config = config)
        scheduler.pause()
        failed = scheduler.schedule { error("failed") }
        launch(Dispatchers.Unconfined) {
            scheduler.drain()
            log += "drained"
        }
        scheduler.resume()
        assertEquals(listOf("completed = true, running = 0", "drained"), log)
    }

    @Test
    fun listener_thatThrows_isReported_andHarmsNoTask() = runTest {
        val config = TaskSchedulerConfig(onFailure = { _, _ -> error("listener") })
        val scheduler = TaskScheduler(backgroundScope, 1, config = config)
        val reports = ArrayList<Throwable>()
        val thread = Thread.currentThread()
        val handler = thread.uncaughtExceptionHandler
        thread.setUncaughtExceptionHandler { _, e -> reports += e }
        try {
            scheduler.schedule { throw IOException("own") }
            runCurrent()
        } finally {
            thread.uncaughtExceptionHandler = handler
        }
        assertEquals(listOf("listener"), reports.map { it.message })
        assertEquals("own", reports.single().suppressed.single().message)
        assertEquals(1, scheduler.run { 1 })
    }
}
