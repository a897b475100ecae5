package baton.sync

import baton.waiting.FifoWaitQueue
import baton.waiting.SignalWaiter
import baton.waiting.WaitCore
import baton.waiting.Waiter

/*
 * How it works
 *
 *            await            signal                        unlock
 *   holder ────────▶ line ──────────────▶ the mutex's line ────────▶ holder
 *                      │  cancelled, timed out:   ▲ │
 *                      ├──── a coroutine ─────────┘ │ cancelled, timed out: a future
 *                      └──── a future ──────────────┴──▶ out, without the mutex
 *
 * (1) The condition decides under the lock of its mutex's core; its own is never taken. That lock guards `line`,
 *     `arrivals` and what SignalWaiter adds to a waiter.
 * (2) await is one decision: into `line`, and the mutex to the next. So is every way out of `line`: a coroutine goes
 *     to the mutex's line in the same step, whoever takes it out. Until it holds the mutex it is in exactly one of the
 *     two lines; hence it is resumed once, by the mutex.
 * (3) await and signal keep the mutex INFLATED while they decide: nobody can unlock it in between, past the lock.
 * (4) A signal is for those who had come when it was given: `reach` was `arrivals` then, and only tickets below it may
 *     have it. So when one who was signalled is cancelled before it holds the mutex (a future) or runs (a coroutine),
 *     the signal goes to who would have had it if the cancelled one had never come, and never to a latecomer.
 * (5) Who passes it on: of a future, whoever withdrew it; of a coroutine, itself, when it has come back with the mutex.
 */
internal class ConditionCore(val mutex: MutexCore, private val label: () -> String) : WaitCore() {
    private val line = FifoWaitQueue()
    private var arrivals = 0L

    val waiting: Int get() = mutex.decide { line.size }

    /** [Waiter.FAILED] when the mutex is not held, or not by whom [waiter] stands for; nothing has changed then. */
    override fun enqueue(waiter: Waiter): Int =
        mutex.decide { enqueueInside(waiter as SignalWaiter) }

    private fun enqueueInside(waiter: SignalWaiter): Int {
        if (!mutex.guard()) return Waiter.FAILED
        if (!waiter.leaveMutex(mutex.owner)) {
            mutex.settle()
            return Waiter.FAILED
        }
        if (!waiter.startWaiting()) {
            // A coroutine keeps the mutex; a future holds nothing when it fails.
            if (waiter.entrant(signalled = false) != null) mutex.settle() else mutex.passOn()
            return waiter.currentState
        }
        // From here on a canceller may withdraw it: its state must not be read again.
        waiter.ticket = arrivals++
        line.add(waiter)
        mutex.passOn()
        return Waiter.WAITING
    }

    /** Signals the first in line, or [all] of them. False when the mutex is not held. */
    fun signal(all: Boolean): Boolean = mutex.decide { signalInside(all) }

    private fun signalInside(all: Boolean): Boolean {
        if (line.size == 0) return mutex.isLocked
        if (!mutex.guard()) return false
        while (signalNext(arrivals)) if (!all) break
        mutex.settle()
        return true
    }

    /** Signals the first in line who came before [reach]. False when there is none. */
    private fun signalNext(reach: Long): Boolean {
        while (true) {
            val waiter = line.head() as SignalWaiter? ?: return false
            if (waiter.ticket >= reach) return false
            val signalled = waiter.trySignal()
            if (signalled) waiter.reach = reach
            takeOut(waiter, signalled)
            if (signalled) return true
        }
    }

    private fun takeOut(waiter: SignalWaiter, signalled: Boolean) {
        line.remove(waiter)
        waiter.entrant(signalled)?.let(mutex::rejoin)
    }

    override fun withdraw(waiter: Waiter) {
        mutex.decide { withdrawInside(waiter as SignalWaiter) }
    }

    private fun withdrawInside(waiter: SignalWaiter) {
        if (waiter.reach > 0) {
            mutex.leave(waiter)
            signalNext(waiter.reach)
        } else if (waiter.linked) {
            takeOut(waiter, signalled = false)
        }
    }

    /** [waiter], who was signalled and holds the mutex, was cancelled before it could know. */
    fun passSignalOn(waiter: SignalWaiter) {
        mutex.decide { signalNext(waiter.reach) }
    }

    override fun takeBack(waiter: Waiter): Unit =
        throw UnsupportedOperationException("whoever has waited for a signal takes the mutex")

    override fun failure(waiter: Waiter): Throwable = notLocked("await")

    fun notLocked(call: String): IllegalStateException = IllegalStateException("$call without the lock: ${label()}")
}
