package baton.sync

import baton.waiting.FifoWaitQueue
import baton.waiting.Waiter

/** The weight of a waiter for [Semaphore.awaitIdle]. */
internal const val IDLE_WEIGHT: Int = 0

/*
 * The callers of awaitIdle (see SemaphoreCore.kt). Their weight is IDLE_WEIGHT: they take no permits.
 *
 * (5) Idle means counter = permits. While a caller waits for that, the counter carries the bias, so that every release
 *     takes the lock and knows from the old value whether it returned the last permit, even if the next acquire changed
 *     the counter before that release reached the lock.
 */
internal abstract class IdleWaiters(permits: Int, acquired: Int) : SemaphoreCounter(permits, acquired) {
    // Guarded by the lock.
    private val idleWaiters = FifoWaitQueue()
    private var biasedForGood = false

    /** Whether no permit is held. */
    val isIdle: Boolean
        get() {
            val bound = limit
            val now = counter()
            if (now >= 0) return now >= bound.toInt() && bound == limit
            return now < BIASED_BELOW && decide { unbiased(counter()) >= permits }
        }

    // All that follows is called under the lock.

    protected fun addIdleWaiter(waiter: Waiter) {
        idleWaiters.add(waiter)
        // A release that read the older limit must not report an idle moment from before this waiter was enqueued.
        advanceLimitVersion()
        updateBias()
        wakeIfIdle(entering = waiter)
    }

    protected fun removeIdleWaiter(waiter: Waiter) {
        idleWaiters.remove(waiter)
        updateBias()
    }

    /**
     * Grants the idle waiters if the semaphore is idle, or [wasIdle] at some moment since they were enqueued. The
     * [entering] waiter is inside its own enqueue call and needs no waking.
     */
    protected fun wakeIfIdle(wasIdle: Boolean = false, entering: Waiter? = null) {
        if (idleWaiters.size == 0 || (!wasIdle && unbiased(counter()) < permits)) return
        idleWaiters.forEach {
            idleWaiters.remove(it)
            if (it.tryGrant() && it !== entering) wake(it)
        }
        updateBias()
    }

    /** From now on every operation takes the lock, with or without idle waiters. */
    protected fun biasForGood() {
        biasedForGood = true
        updateBias()
    }

    private fun updateBias() = setBias(biasedForGood || idleWaiters.size > 0)
}
