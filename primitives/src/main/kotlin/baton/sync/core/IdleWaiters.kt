package baton.sync.core

import baton.sync.core.SemaphoreCounter.Companion.BIASED_BELOW
import baton.waiting.FifoWaitQueue
import baton.waiting.Waiter

/*
 * The callers of awaitIdle (see SemaphoreCore.kt). They ask for no permits.
 *
 * (5) Idle means counter = permits; with 0 permits, where waiters stay although none is held, counter + demand = 0. While
 *     a caller waits for that, the counter carries the bias, so that every release takes the lock and knows from the old
 *     value whether it returned the last permit, even if the next acquire changed the counter before that release
 *     reached the lock.
 */
internal class IdleWaiters(private val core: SemaphoreCounter) {
    // Guarded by the lock.
    private val queue = FifoWaitQueue()
    private var biasedForGood = false

    /** Whether no permit is held. */
    val isIdle: Boolean
        get() {
            val bound = core.limit
            val now = core.counter()
            if (now >= 0) return now >= bound.toInt() && bound == core.limit
            return now < BIASED_BELOW && core.decide { isIdleNow() }
        }

    // All that follows is called under the lock.

    private fun isIdleNow(): Boolean {
        val counter = core.unbiased(core.counter())
        return if (core.permits == 0) counter + core.demand >= 0 else counter >= core.permits
    }

    fun add(waiter: Waiter) {
        queue.add(waiter)
        // A release that read the older limit must not report an idle moment from before this waiter was enqueued.
        core.advanceLimitVersion()
        updateBias()
        wakeIfIdle(entering = waiter)
    }

    fun remove(waiter: Waiter) {
        queue.remove(waiter)
        updateBias()
    }

    /**
     * Grants the idle waiters if the semaphore is idle, or [wasIdle] at some moment since they were enqueued. The
     * [entering] waiter is inside its own enqueue call and needs no waking.
     */
    fun wakeIfIdle(wasIdle: Boolean = false, entering: Waiter? = null) {
        if (queue.size == 0 || (!wasIdle && !isIdleNow())) return
        queue.forEach {
            queue.remove(it)
            if (it.tryGrant() && it !== entering) core.wake(it)
        }
        updateBias()
    }

    /** From now on every operation takes the lock, with or without idle waiters. */
    fun biasForGood() {
        biasedForGood = true
        updateBias()
    }

    private fun updateBias() = core.setBias(biasedForGood || queue.size > 0)
}
