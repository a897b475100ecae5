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
 * The time limits of a task: [timeout] from its submission to its end, [runTimeout] from the begin of its block; null
 * for none. When one passes while the block runs, a scope around the block is cancelled, and not the task: so the task
 * can fail with a [TaskTimeoutException] once the block has ended.
 */
internal class TaskTimeLimit(val timeout: Duration?, val runTimeout: Duration?) {
    /** Of the [timeout]. Set before the task is submitted. */
    var timer: DisposableHandle? = null

    /** Of the limit that has passed; null until then. */
    @Volatile
    var failure: TaskTimeoutException? = null
        private set

    val hasPassed: Boolean
        get() = failure != null

    /** The scope around the block, while that runs. [pass] reads it after it has written [failure]. */
    @Volatile private var scope: Job? = null

    fun pass(failure: TaskTimeoutException) {
        this.failure = failure
        scope?.cancel(cancellation(failure))
    }

    private fun cancellation(failure: TaskTimeoutException) = CancellationException(failure.message, failure)

    /** [block] of a task; [startTimer] is called at its begin, for the [runTimeout]. */
    fun <T> around(
        startTimer: () -> DisposableHandle?,
        block: suspend CoroutineScope.() -> T,
    ): suspend CoroutineScope.() -> T = {
        var runTimer: DisposableHandle? = null
        try {
            coroutineScope {
                scope = coroutineContext.job
                failure?.let { throw cancellation(it) }
                runTimer = startTimer()
                block()
            }
        } catch (e: Throwable) {
            val late = failure
            if (late == null || !isActive) throw e
            if (e !is CancellationException) late.addSuppressed(e)
            throw late
        } finally {
            runTimer?.dispose()
            scope = null
        }
    }
}
