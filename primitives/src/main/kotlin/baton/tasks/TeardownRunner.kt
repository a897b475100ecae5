package baton.tasks

import kotlin.coroutines.CoroutineContext
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
import kotlinx.coroutines.handleCoroutineException
import kotlinx.coroutines.launch

/**
 * Runs the teardowns of one task, one after another, in coroutines that are nobody's children: only the end of their
 * time cancels them.
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

    /** There is a value: none of them will run. */
    fun drop() = teardowns.drop()

    /** Runs them all. Answers what the task fails with: the [cause], with what they threw. */
    suspend fun run(cause: Throwable): Throwable {
        var next = teardowns.next(cause) ?: return cause
        val failures = ArrayList<Throwable>(0)
        val time = startTime()
        while (true) {
            val failure = runOne(next.teardown, cause, time)
            if (failure != null && failures.none { it === failure }) failures += failure
            next = teardowns.next(cause) ?: break
        }
        time.cancel(null)
        return if (failures.isEmpty()) cause else withFailures(cause, failures)
    }

    /** Registered when all was over. A parent that is still there waits for it all the same. */
    private fun runLate(teardown: suspend (Throwable) -> Unit, cause: Throwable) {
        CoroutineScope(context).launch(start = CoroutineStart.ATOMIC) {
            val time = startTime()
            val failure = runOne(teardown, cause, time)
            time.cancel(null)
            if (failure != null) handleCoroutineException(context, failure)
        }
    }

    /** The parent of the teardowns, cancelled when their time is over. */
    private suspend fun startTime(): Job {
        val time = Job()
        if (timeout.isFinite()) {
            CoroutineScope(currentCoroutineContext() + time).launch(start = CoroutineStart.UNDISPATCHED) {
                delay(timeout)
                // The null is spelled out: before kotlinx-coroutines 1.11 what supplies it stands elsewhere.
                time.cancel(null)
            }
        }
        return time
    }

    /** Undispatched, so that it begins also when the time is over. Answers what it throws. */
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
        // Who throws the reason on tells nothing new.
        return failure.takeIf { it !== cause }
    }

    private fun overrun(cut: CancellationException): Throwable =
        TeardownTimeoutException("the teardowns of $label took longer than $timeout").initCause(cut)

    private fun withFailures(cause: Throwable, failures: List<Throwable>): Throwable {
        // The reason of a cancellation is shared by all that it has cancelled; what happened here is not theirs.
        val told = if (cause is CancellationException) CancellationException(cause.message, cause) else cause
        failures.forEach(told::addSuppressed)
        // An exception may refuse to take suppressed ones.
        val kept = told.suppressed
        for (failure in failures) if (kept.none { it === failure }) handleCoroutineException(context, failure)
        return told
    }
}
