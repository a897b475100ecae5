package baton.sync.core

import baton.waiting.FifoWaitQueue
import baton.waiting.SignalWaiter
import baton.waiting.WaitCore
import baton.waiting.Waiter
import baton.waiting.holders.makeKnown

/*
 * How it works
 *
 *            await             signal                        unlock
 *   holder ────────▶ queue ──────────────▶ the mutex's queue ────────▶ holder
 *                      │  cancelled, timed out:   ▲ │
 *                      ├──── a coroutine ─────────┘ │ cancelled, timed out: a future
 *                      └──── a future ──────────────┴──▶ removed, without the mutex
 *
 * (1) The condition decides under the lock of its mutex's core, its `guard`; its own is never taken. That lock guards
 *     `queue`, `arrivals`, what a WaitCore notes of its waiters and the fields of SignalWaiter.
 * (2) await is one decision: it enqueues the waiter in `queue` and hands the mutex to its next waiter. So is every
 *     removal from `queue`: the removing thread moves a coroutine to the mutex's queue in the same step. Until it holds
 *     the mutex, a coroutine is in exactly one of the two queues; hence it is resumed once, by the mutex.
 * (3) await and signal inflate the mutex's word while they decide: no thread can unlock it without the lock meanwhile.
 * (4) A signal is for the waiters that had come when it was given: `reach` was `arrivals` then, and only tickets below
 *     it may get the signal. So when a signalled waiter is cancelled before it holds the mutex (a future) or runs (a
 *     coroutine), the signal goes to the waiter that would have got it if the cancelled one had never come, and never
 *     to a later one.
 * (5) The signal of a cancelled future is passed on by the thread that withdraws the future; that of a cancelled
 *     coroutine by the coroutine itself, when it has the mutex again.
 */
internal class ConditionCore(val mutex: MutexCore, private val condition: Any) : WaitCore() {
    private val queue = FifoWaitQueue()
    private var arrivals = 0L

    val waiting: Int
        get() = mutex.decide { queue.size }

    /** [Waiter.FAILED] when the mutex is not held, or not with the owner of [waiter]; nothing has changed then. */
    override fun enqueue(waiter: Waiter): Int {
        // A future or a thread, which enters the mutex's queue later under the lock. The mutex knows a coroutine
        // already.
        if (waiter.coroutine == null) mutex.makeKnown(waiter)
        noteWait(waiter)
        return mutex.decideInflated { enqueueUnderLock(waiter as SignalWaiter) }
    }

    private fun enqueueUnderLock(waiter: SignalWaiter): Int {
        if (!mutex.isHeld || !waiter.leaveMutex(mutex.owner)) return Waiter.FAILED
        if (!waiter.startWaiting()) {
            // A coroutine keeps the mutex; a future holds nothing after its failure.
            if (waiter.entrant(signalled = false) == null) mutex.handOff()
            return waiter.currentState
        }
        waiter.ticket = arrivals++
        queue.add(waiter)
        countPeak(queue.size)
        mutex.handOff()
        return Waiter.WAITING
    }

    /** Signals the first waiter, or [all] of them. False when the mutex is not held. */
    fun signal(all: Boolean): Boolean =
        mutex.decideInflated {
            if (mutex.isHeld) while (signalNext(arrivals)) if (!all) break
            mutex.isHeld
        }

    /** Signals the first waiter with a ticket below [reach]. False when there is none. */
    private fun signalNext(reach: Long): Boolean {
        val waiter = queue.head() as SignalWaiter? ?: return false
        if (waiter.ticket >= reach) return false
        waiter.signal()
        waiter.reach = reach
        removeFromQueue(waiter, signalled = true)
        return true
    }

    private fun removeFromQueue(waiter: SignalWaiter, signalled: Boolean) {
        queue.remove(waiter)
        waiter.entrant(signalled)?.let(mutex::requeue)
    }

    override val guard: WaitCore
        get() = mutex

    override val queuedWaiters: Int
        get() = queue.size

    override fun visitWaiters(limit: Int, visit: (Waiter) -> Unit) {
        queue.forFirst(limit, visit)
    }

    override fun ownerIn(request: Any?): Any? = request

    override fun leaveQueue(waiter: Waiter, to: Int): Boolean = mutex.decideInflated { leaveUnderLock(waiter, to) }

    override fun isQueued(waiter: Waiter): Boolean = queue.contains(waiter) || mutex.isQueued(waiter)

    override fun removeWithdrawn(waiter: Waiter) {
        waiter as SignalWaiter
        if (waiter.reach > 0) {
            mutex.unlink(waiter)
            signalNext(waiter.reach)
        } else {
            removeFromQueue(waiter, signalled = false)
        }
    }

    /** Passes on the signal of [waiter], which holds the mutex but was cancelled before it ran. */
    fun passSignalOn(waiter: SignalWaiter) {
        mutex.decideInflated { signalNext(waiter.reach) }
    }

    override fun takeBack(waiter: Waiter): Unit =
        throw UnsupportedOperationException("a condition grants nothing: its waiters get the mutex")

    override fun label(): String = condition.toString()

    override fun toString(): String = label()

    override fun verbOf(waiter: Waiter): String = "await"

    override fun failure(waiter: Waiter): Throwable = notLocked("await")

    fun notLocked(call: String): IllegalStateException = IllegalStateException("$call without the lock: ${label()}")
}
