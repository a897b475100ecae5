package baton.sync

import baton.waiting.FifoWaitQueue
import baton.waiting.Waiter

/*
 * Those who wait until a semaphore is idle (see SemaphoreCore.kt). Their weight is IDLE_WEIGHT: they take nothing.
 *
 * (5) Idle means counter = permits. Whoever waits for it puts the bias on, so that every release comes to the lock and
 *     knows from its old value whether it was the last, even if the next acquire was faster than its report.
 */
internal abstract class IdleWaiters(permits: Int, acquired: Int) : SemaphoreCounter(permits, acquired) {
    // Guarded by the lock.
    private val idlers = FifoWaitQueue()
    private var guardedForGood = false

    /** Whether nobody holds a permit. */
    val isIdle: Boolean
        get() {
            val bound = limit
            val now = counter()
            if (now >= 0) return now >= bound.toInt() && bound == limit
            return now < GUARDED_BELOW && decide { real(counter()) >= permits }
        }

    // All that follows is called under the lock.

    protected fun addIdler(waiter: Waiter) {
        idlers.add(waiter)
        // A release that has seen the older limit does not tell this one of a moment before it came.
        renewLimit()
        settleBias()
        reportIdle(entering = waiter)
    }

    protected fun removeIdler(waiter: Waiter) {
        idlers.remove(waiter)
        settleBias()
    }

    /** The [entering] waiter is on its way in and needs no waking. */
    protected fun reportIdle(wasIdle: Boolean = false, entering: Waiter? = null) {
        if (idlers.size == 0 || (!wasIdle && real(counter()) < permits)) return
        idlers.forEach {
            idlers.remove(it)
            if (it.tryGrant() && it !== entering) wake(it)
        }
        settleBias()
    }

    /** From now on every operation comes to the lock, whether somebody waits for idleness or not. */
    protected fun guardForGood() {
        guardedForGood = true
        settleBias()
    }

    private fun settleBias() = setBias(guardedForGood || idlers.size > 0)
}
