package baton.scheduler.tasks

import baton.scheduler.TaskTimeoutException
import kotlin.time.Duration
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.DisposableHandle
import kotlinx.coroutines.Job
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.isActive
import kotlinx.coroutines.job

/**
 * The time limit of a task, from its submission to its end. When it passes while the block runs, a scope around the
 * block is cancelled, and not the task: so the task can fail with a [TaskTimeoutException] once the block has ended.
 */
internal class TaskTimeLimit(val timeout: Duration) {
    /** Set before the task is submitted. */
    var timer: DisposableHandle? = null

    @Volatile
    var hasPassed = false
        private set

    /** The scope around the block, while that runs. [pass] reads it after it has written [hasPassed]. */
    @Volatile private var scope: Job? = null

    fun pass() {
        hasPassed = true
        scope?.cancel(cancellation())
    }

    private fun cancellation() = CancellationException("the timeout of $timeout has passed")

    /** [block] of the task with that label. */
    fun <T> around(label: String, block: suspend CoroutineScope.() -> T): suspend CoroutineScope.() -> T = {
        try {
            coroutineScope {
                scope = coroutineContext.job
                if (hasPassed) throw cancellation()
                block()
            }
        } catch (e: Throwable) {
            if (!hasPassed || !isActive) throw e
            val failure = failureOf(label)
            if (e !is CancellationException) failure.addSuppressed(e)
            throw failure
        } finally {
            scope = null
        }
    }

    fun failureOf(label: String) = TaskTimeoutException("$label has not ended within $timeout")
}
