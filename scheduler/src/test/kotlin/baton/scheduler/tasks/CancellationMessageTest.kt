package baton.scheduler.tasks

import baton.scheduler.ScheduledTask
import baton.scheduler.TaskScheduler
import baton.scheduler.TaskSchedulerConfig
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.Job
import kotlinx.coroutines.TimeoutCancellationException
import kotlinx.coroutines.cancelChildren
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withTimeoutOrNull
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** A cancellation that the scheduler makes names the task and the scheduler. */
@OptIn(ExperimentalCoroutinesApi::class)
class CancellationMessageTest {
    private fun TestScope.paused(name: String? = "uplink") = TaskScheduler(this, 1, name).also { it.pause() }

    private fun cause(task: ScheduledTask<*>) = task.getCompletionExceptionOrNull()

    @Test
    fun cancel_withoutCause_namesTaskAndScheduler() = runTest {
        val scheduler = paused()
        val task = scheduler.schedule(key = "page") {}
        task.cancel()
        assertEquals("ScheduledTask 'page' of TaskScheduler 'uplink' was cancelled", cause(task)?.message)
        val other = scheduler.schedule(key = "page") {}
        scheduler.cancel("page")
        assertEquals("ScheduledTask 'page' of TaskScheduler 'uplink' was cancelled", cause(other)?.message)
    }

    @Test
    fun cancel_withoutKeyAndName_saysTask() = runTest {
        val task = paused(name = null).schedule {}
        task.cancel()
        assertEquals("ScheduledTask of TaskScheduler was cancelled", cause(task)?.message)
    }

    @Test
    fun cancelChildren_ofTheScope_namesIt() = runTest {
        val scope = CoroutineScope(coroutineContext + Job())
        val task = TaskScheduler(scope, 1).also { it.pause() }.schedule {}
        scope.coroutineContext.cancelChildren()
        assertEquals("The tasks in the scope of a TaskScheduler were cancelled", cause(task)?.message)
    }

    @Test
    fun cancel_withACause_keepsIt() = runTest {
        val task = paused().schedule(key = "page") {}
        val cause = CancellationException("not wanted")
        task.cancel(cause)
        assertSame(cause, cause(task))
    }

    @Test
    fun run_callerCancelled_saysSo() = runTest {
        val scheduler = paused()
        val caller = launch { scheduler.run(key = "page") {} }
        runCurrent()
        val task = scheduler.tasks("page").single()
        caller.cancel(CancellationException("closed the page"))
        runCurrent()
        val cause = cause(task)
        assertEquals(
            "ScheduledTask 'page' of TaskScheduler 'uplink' was cancelled: its caller was cancelled",
            cause?.message,
        )
        assertEquals("closed the page", cause?.cause?.message)
    }

    @Test
    fun submit_callerCancelled_saysSo() = runTest {
        val scheduler = TaskScheduler(this, 1, "uplink", TaskSchedulerConfig(capacity = 0)).also { it.pause() }
        val caller = launch { scheduler.submit(key = "page") {} }
        runCurrent()
        val task = scheduler.tasks("page").single()
        caller.cancel()
        runCurrent()
        val message = "ScheduledTask 'page' of TaskScheduler 'uplink' was cancelled: its caller was cancelled"
        assertEquals(message, cause(task)?.message)
    }

    /** Code in the task must not take the caller's timeout for one of its own. */
    @Test
    fun run_callersTimeout_isNoTimeoutInsideTheTask() = runTest {
        val scheduler = paused()
        var task: ScheduledTask<*>? = null
        withTimeoutOrNull(1.seconds) {
            launch { task = scheduler.tasks("page").single() }
            scheduler.run(key = "page") {}
        }
        val cause = task?.let(::cause)
        assertTrue(cause is CancellationException && cause !is TimeoutCancellationException, "$cause")
        assertTrue(cause?.cause is TimeoutCancellationException, "${cause?.cause}")
    }
}
