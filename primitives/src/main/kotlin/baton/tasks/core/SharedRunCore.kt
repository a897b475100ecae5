package baton.tasks.core

import baton.waiting.Gate
import baton.waiting.Symbol
import baton.waiting.Waiter
import baton.waiting.labelOf
import baton.waiting.threads.requireStack
import java.util.concurrent.atomic.AtomicBoolean
import kotlinx.coroutines.CancellationException

/**
 * One run that several callers share. Each has a lease of the entry of its key, whose value this is.
 *
 * ```
 *   NEW ──── tryStart() ────▶ RUNNING ──── succeed(), fail() ────▶ ENDED: a value, or a failure
 *                                │
 *                                └──── the last lease ends ────▶ abandoned: its canceller runs, and no caller is left
 * ```
 * 1. One caller starts it, whichever comes first. It sets the canceller before its own lease ends, so the last caller
 *    to leave finds it.
 * 2. The entry is out of its table before the end is published. So a caller that comes after another one has returned
 *    begins a new run. A caller that has the entry from before the end gets the same end.
 * 3. The end is published once, in the decision that releases all waiters.
 * 4. No caller is cancelled by the end: a CancellationException of the run is the cause of another exception.
 */
internal class SharedRunCore(private val kind: String, private val named: Any) : Gate() {
    private val isStarted = AtomicBoolean()

    /** Guarded by the lock until it has ended; then final. */
    @Volatile private var end: Any? = RUNNING

    /** Cancels the run. */
    @Volatile var canceller: Runnable? = null

    /** Runs the part of the run that is no coroutine; that part must not wait for the run. */
    @Volatile private var runner: Thread? = null

    private class Failure(val cause: Throwable)

    override val isPassing: Boolean
        get() = end !== RUNNING

    /** True for one caller, which starts the run. */
    fun tryStart(): Boolean = !isStarted.get() && isStarted.compareAndSet(false, true)

    fun succeed(value: Any?) = end(value, null)

    fun fail(failure: Throwable) {
        val cause =
            if (failure is CancellationException) IllegalStateException("${label()} was cancelled", failure)
            else failure
        end(Failure(cause), cause)
    }

    private fun end(newEnd: Any?, failure: Throwable?) {
        decide {
            if (end === RUNNING) {
                requireStack()
                end = newEnd
                releaseAll(failure)
            }
        }
    }

    /** The last caller has left. */
    fun abandon() {
        if (end === RUNNING) canceller?.run()
    }

    /** Runs [action], a part of the run, on this thread. */
    fun <R> runInside(action: () -> R): R {
        runner = Thread.currentThread()
        try {
            return action()
        } finally {
            runner = null
        }
    }

    /** Called before this thread, or a future for it, waits for the run. */
    fun requireOutside() {
        if (runner === Thread.currentThread()) throw nested()
    }

    fun nested(): IllegalStateException = IllegalStateException("${label()} inside itself, must not wait for itself")

    /** The value of a run that is passing; throws its failure. */
    fun value(): Any? = end.let { if (it is Failure) throw it.cause else it }

    override fun enqueue(waiter: Waiter): Int {
        noteWait(waiter)
        return decide {
            requireStack()
            val end = end
            if (end is Failure) {
                waiter.tryFail(end.cause)
                waiter.currentState
            } else {
                join(waiter)
            }
        }
    }

    override fun grantOf(waiter: Waiter, otherwise: Any?): Any? = end

    override fun failure(waiter: Waiter): Throwable = waiter.outcome as Throwable

    override val sharesFailures: Boolean
        get() = true

    override fun label(): String = labelOf(kind, named.toString())

    override fun toString(): String = "${label()} (${if (isPassing) "ended" else "running"}, waiting = $waiting)"

    override fun verbOf(waiter: Waiter): String = "run"

    private companion object {
        private val RUNNING = Symbol("RUNNING")
    }
}
