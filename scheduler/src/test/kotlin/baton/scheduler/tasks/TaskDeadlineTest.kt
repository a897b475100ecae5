package baton.scheduler.tasks

import baton.Priority
import baton.scheduler.OnFullQueue
import baton.scheduler.ScheduledTask
import baton.scheduler.TaskDeadlineException
import baton.scheduler.TaskScheduler
import baton.scheduler.TaskSchedulerConfig
import kotlin.coroutines.CoroutineContext
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CancellableContinuation
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Delay
import kotlinx.coroutines.DisposableHandle
import kotlinx.coroutines.InternalCoroutinesApi
import kotlinx.coroutines.Job
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.async
import kotlinx.coroutines.cancel
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

/** A task that cannot begin in time, or whose deadline cannot be watched, takes nothing from other tasks. */
class TaskDeadlineTest {
    enum class Call(val make: suspend TaskScheduler.(Duration, () -> Unit) -> Unit) {
        SCHEDULE({ deadline, block -> schedule(Priority.CRITICAL, "late", deadline) { block() }.await() }),
        SUBMIT({ deadline, block -> submit(Priority.CRITICAL, "late", deadline) { block() }.await() }),
        RUN({ deadline, block -> run(Priority.CRITICAL, "late", deadline) { block() } }),
    }

    private var gate = CompletableDeferred<Unit>()
    private var hasRun = false

    private fun TestScope.full(): Pair<TaskScheduler, ScheduledTask<String>> {
        val config = TaskSchedulerConfig(capacity = 1, onFull = OnFullQueue.DROP_LOWEST)
        gate = CompletableDeferred()
        val scheduler = TaskScheduler(backgroundScope, 1, config = config)
        scheduler.schedule { gate.await() }
        return scheduler to scheduler.schedule(Priority.LOW) { "low" }
    }

    @ParameterizedTest
    @EnumSource
    fun task_thatIsTooLateAlready_displacesNoOther(call: Call) = runTest {
        for (deadline in listOf(Duration.ZERO, (-1).seconds)) {
            val (scheduler, low) = full()
            val late = async { runCatching { call.make(scheduler, deadline) { hasRun = true } } }
            assertInstanceOf(TaskDeadlineException::class.java, late.await().exceptionOrNull())
            assertEquals(1L, scheduler.metrics[Priority.CRITICAL].expired)
            gate.complete(Unit)
            assertEquals("low", low.await())
            assertTrue(!hasRun)
        }
    }

    @ParameterizedTest
    @EnumSource
    fun task_thatMayBeginNow_runsWithADeadlineOfZero(call: Call) = runTest {
        val scheduler = TaskScheduler(backgroundScope, 1)
        call.make(scheduler, Duration.ZERO) { hasRun = true }
        assertTrue(hasRun)
    }

    @Test
    fun run_byACancelledCaller_displacesNoOther_andRunsNothing() = runTest {
        val (scheduler, low) = full()
        val caller = launch {
            currentCoroutineContext().cancel()
            assertThrows<CancellationException> { scheduler.run(Priority.CRITICAL) { hasRun = true } }
        }
        caller.join()
        gate.complete(Unit)
        assertEquals("low", low.await())
        assertEquals(0L, scheduler.metrics[Priority.CRITICAL].scheduled)
        assertTrue(!hasRun)
    }

    /** Its timers fail for want of a thread. */
    @OptIn(InternalCoroutinesApi::class)
    private class NoTimers : CoroutineDispatcher(), Delay {
        override fun dispatch(context: CoroutineContext, block: Runnable) = block.run()

        override fun scheduleResumeAfterDelay(timeMillis: Long, continuation: CancellableContinuation<Unit>) =
            throw OutOfMemoryError("unable to create native thread")

        override fun invokeOnTimeout(timeMillis: Long, block: Runnable, context: CoroutineContext): DisposableHandle =
            throw OutOfMemoryError("unable to create native thread")
    }

    @ParameterizedTest
    @EnumSource
    fun task_whoseTimerCannotBeSet_isWithdrawn(call: Call) {
        for (config in listOf(TaskSchedulerConfig(), TaskSchedulerConfig(capacity = 0, onFull = OnFullQueue.SUSPEND))) {
            val scheduler = TaskScheduler(CoroutineScope(NoTimers() + SupervisorJob()), 1, config = config)
            val gate = CompletableDeferred<Unit>()
            val running = scheduler.schedule { gate.await() }
            val mayWait = config.capacity > 0 || call != Call.SCHEDULE
            if (mayWait) {
                val failure =
                    assertThrows<Throwable> { runBlocking { call.make(scheduler, 500.milliseconds) { hasRun = true } } }
                assertInstanceOf(OutOfMemoryError::class.java, failure)
            }
            assertEquals(emptyList<Any>(), scheduler.tasks("late"))
            assertEquals(0, scheduler.metrics.queued + scheduler.metrics.waiting)
            gate.complete(Unit)
            runBlocking {
                running.await()
                scheduler.drain()
            }
            assertTrue(!hasRun)
        }
    }

    @Test
    fun task_thatBeginsAtOnce_needsNoTimer() = runBlocking {
        val scheduler = TaskScheduler(CoroutineScope(NoTimers() + Job()), 1)
        assertEquals(1, scheduler.run(deadline = 500.milliseconds) { 1 })
    }
}
