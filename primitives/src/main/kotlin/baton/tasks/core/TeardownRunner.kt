@file:JvmSynthetic

package baton.tasks.core

import baton.tasks.TeardownTimeoutException
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.resume
import kotlin.coroutines.suspendCoroutine
import kotlin.time.Duration
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.DelicateCoroutinesApi
import kotlinx.coroutines.DisposableHandle
import kotlinx.coroutines.InternalCoroutinesApi
import kotlinx.coroutines.Job
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.delay
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.handleCoroutineException
import kotlinx.coroutines.launch

/**
 * Runs the teardowns of one task, one after another, in coroutines whose parent is only the timer: so only the end of
 * their time cancels them.
 *
 * `handleCoroutineException` is an internal API of kotlinx.coroutines. It passes an exception that no caller can
 * receive to the exception handler of the context, as for a coroutine. Tested against kotlinx-coroutines 1.8.1, 1.10.2
 * and 1.11.0.
 */
@OptIn(InternalCoroutinesApi::class, DelicateCoroutinesApi::class)
internal class TeardownRunner(
    private val context: CoroutineContext,
    private val timeout: Duration,
    private val label: String,
) {
    private val teardowns = Teardowns()

    fun register(teardown: suspend (cause: Throwable) -> Unit): DisposableHandle {
        val entry = teardowns.Entry(teardown)
        teardowns.add(entry)?.let { why -> runLate(teardown, why) }
        return entry
    }

    /** The task has a value: no teardown will run. */
    fun drop() = teardowns.drop()

    /**
     * Runs all teardowns. Returns the exception with which the task fails: the [cause], with their exceptions
     * suppressed.
     */
    suspend fun run(cause: Throwable): Throwable {
        var next = teardowns.next(cause) ?: return cause
        val failures = ArrayList<Throwable>(0)
        val time = startTimer()
        while (true) {
            val failure = runOne(next.teardown, cause, time)
            if (failure != null && failures.none { it === failure }) failures += failure
            next = teardowns.next(cause) ?: break
        }
        time.cancel(null)
        return if (failures.isEmpty()) cause else withFailures(cause, failures)
    }

    /** Runs a teardown that was registered after the last one had ended. An active parent still waits for it. */
    private fun runLate(teardown: suspend (Throwable) -> Unit, cause: Throwable) {
        CoroutineScope(context).launch(start = CoroutineStart.ATOMIC) {
            val time = startTimer()
            val failure = runOne(teardown, cause, time)
            time.cancel(null)
            if (failure != null) handleCoroutineException(context, failure)
        }
    }

    /** The parent of the teardowns, cancelled when their time is over. */
    private suspend fun startTimer(): Job {
        val time = Job()
        if (timeout.isFinite()) {
            CoroutineScope(currentCoroutineContext() + time).launch(start = CoroutineStart.UNDISPATCHED) {
                try {
                    delay(timeout)
                } catch (e: Throwable) {
                    ensureActive()
                    // No thread for the timer, or the clock fails: the teardowns run without a limit.
                    return@launch handleCoroutineException(this@TeardownRunner.context, e)
                }
                // The explicit null keeps this compatible: the default argument's method moved in kotlinx-coroutines
                // 1.11.
                time.cancel(null)
            }
        }
        return time
    }

    /** Runs [teardown] undispatched, so that it starts even if the time is over. Returns its exception. */
    private suspend fun runOne(teardown: suspend (Throwable) -> Unit, cause: Throwable, time: Job): Throwable? {
        var failure: Throwable? = null
        val running =
            CoroutineScope(currentCoroutineContext() + time).launch(start = CoroutineStart.UNDISPATCHED) {
                try {
                    teardown(cause)
                } catch (e: Throwable) {
                    failure = if (e is CancellationException && time.isCancelled) overrun(e) else e
                }
            }
        running.awaitEnd()
        // A teardown that rethrows the reason adds no information.
        return failure.takeIf { it !== cause }
    }

    private fun overrun(cut: CancellationException): Throwable =
        TeardownTimeoutException("the teardowns of $label took longer than $timeout").initCause(cut)

    private fun withFailures(cause: Throwable, failures: List<Throwable>): Throwable {
        // All cancelled tasks share the reason of a cancellation, so this task's failures must not be added to it.
        val reported = if (cause is CancellationException) CancellationException(cause.message, cause) else cause
        failures.forEach(reported::addSuppressed)
        // An exception may be created with suppression disabled.
        val kept = reported.suppressed
        for (failure in failures) if (kept.none { it === failure }) handleCoroutineException(context, failure)
        return reported
    }
}

/** Waits for the end of this job, even if the caller is cancelled. */
internal suspend fun Job.awaitEnd() = suspendCoroutine { caller -> invokeOnCompletion { caller.resume(Unit) } }
