package baton.sync.core

import baton.sync.WaitOrder
import baton.waiting.BoostableCoroutine
import baton.waiting.FifoWaitQueue
import baton.waiting.NotedCaller
import baton.waiting.PriorityWaitQueue
import baton.waiting.WaitQueue
import baton.waiting.Waiter
import baton.waiting.boost.countWaiter
import baton.waiting.boost.recordSoleHolder
import baton.waiting.boost.uncountWaiter
import baton.waiting.caller
import baton.waiting.noteSole

/*
 * The queue of a semaphore (see SemaphoreCore.kt), and the account of the permits that the slow path grants:
 *
 *   pool     permits that releases brought, or waiting requests found free, and that no waiter has been granted yet
 *   demand   the total weight of the queued waiters; kept beside the counter
 *
 * (1) With all operations at rest, pool = demand + min(counter, 0). In between, an operation that has changed the
 *     counter and has not yet taken the lock owes its share. Only the old value that its own fetch-and-add returned
 *     decides that share:
 *       release n, old < 0        adds min(n, -old) to pool   (the rest is free for any caller)
 *       acquire n, under the lock: adds n to demand, and max(old, 0) to pool
 *       demand w withdrawn        takes clamp(old + w, 0, w): the part that a release on its way had covered is free
 *                                 again
 *       grow by d                 as release d
 *       shrink by d, old < d      adds max(old, 0) and takes d: a pool below zero is a debt, which releases pay off
 *     So pool may be below zero while shares are on their way, and no waiter is granted then.
 * (2) The head of the queue is granted as soon as its weight fits into pool. Since a waiting head keeps the counter
 *     below zero, no fast path succeeds meanwhile: no newcomer overtakes, and a release hands its permit to the head
 *     directly.
 *
 * (6) The holder of the only permit is recorded, if its priority can be boosted, in the step that grants the permit. A
 *     release while a holder is recorded takes the lock before it changes the counter: so the record always names the
 *     current holder. With more than one permit no holder is recorded, because a released permit could be any holder's.
 *
 * UNFAIR: a release does not grant the head but *invites* it: the head calls claim() when its dispatcher runs it, and
 * takes the permits that are free then. Meanwhile newcomers may take from pool, at most MAX_OVERTAKES of them for one
 * head; after that the head is granted as under the other orders. At most one invitation is out. An invited waiter that
 * withdraws, or that does not find enough permits, keeps none: removeWithdrawn() and the next release look at the head again.
 */
internal class SemaphoreQueue(
    private val core: SemaphoreCounter,
    private val order: WaitOrder,
    private val idleWaiters: IdleWaiters,
) {
    // Guarded by the lock.
    private val queue: WaitQueue = if (order == WaitOrder.PRIORITY) PriorityWaitQueue(::levelOf) else FifoWaitQueue()
    private var pool = 0L
    private var invited: Waiter? = null
    private var overtakes = 0

    /** Read without the lock, so a hint; a caller that needs the exact size looks again under the lock. */
    val size: Int
        get() = queue.size

    private fun levelOf(waiter: Waiter) = waiter.level.ordinal

    // All that follows is called under the lock.

    // ---- enqueue and remove

    fun visitWaiters(limit: Int, visit: (Waiter) -> Unit) {
        queue.forFirst(limit, visit)
    }

    /** The permits that are free for any caller, or for the head. */
    fun available(): Long = maxOf(core.unbiased(core.counter()), 0L) + pool

    /** The invited [waiter] runs. Whether it took what it asks for. */
    fun claim(waiter: Waiter): Boolean {
        if (invited === waiter) invited = null
        val granted = queue.head() === waiter && waiter.weight <= pool && grantFromPool(waiter)
        admitHead()
        idleWaiters.wakeIfIdle()
        return granted
    }

    /** Enqueues [waiter], whose weight was subtracted from the counter, which was [old] before. */
    fun enqueueDemand(waiter: Waiter, old: Long): Int {
        pool += maxOf(old, 0)
        queue.add(waiter)
        core.countPeak(queue.size)
        core.countWaiter(waiter)
        core.demand += waiter.weight
        if (order == WaitOrder.UNFAIR && pool >= waiter.weight && mayOvertake()) {
            grantFromPool(waiter)
        } else {
            admitHead(entering = waiter)
        }
        return finishEnqueue(waiter)
    }

    /**
     * Moves a queued waiter to WAITING, or removes it if it was withdrawn. From WAITING on a canceller may resume the
     * waiter: its state must not be read again here, or both threads would resume it.
     */
    fun finishEnqueue(waiter: Waiter): Int {
        if (waiter.linked) {
            if (waiter.startWaiting()) return Waiter.WAITING
            removeWithdrawn(waiter)
        }
        return waiter.currentState
    }

    fun removeWithdrawn(waiter: Waiter) {
        if (waiter.awaitsIdle) return idleWaiters.remove(waiter)
        unlink(waiter)
        val last = dropDemand(waiter.weight)
        admitHead()
        idleWaiters.wakeIfIdle(last)
    }

    private fun unlink(waiter: Waiter) {
        if (invited === waiter) invited = null
        if (order == WaitOrder.UNFAIR && queue.head() === waiter) overtakes = 0
        queue.remove(waiter)
        core.uncountWaiter(waiter)
        core.demand -= waiter.weight
    }

    fun failHeavierThan(weight: Int, reason: Any) {
        queue.forEach {
            if (it.weight > weight) {
                unlink(it)
                dropDemand(it.weight)
                if (it.tryFail(reason)) core.wake(it)
            }
        }
    }

    // ---- admission

    /**
     * Grants or invites the head for as long as it fits (invariant 2). The [entering] waiter is inside its own enqueue
     * call and needs no waking.
     */
    fun admitHead(entering: Waiter? = null) {
        while (true) {
            val head = queue.head() ?: return
            if (head.weight > pool) return
            if (head !== entering && head.invitable && mayBeOvertaken()) {
                if (invited == null) {
                    invited = head
                    core.invite(head)
                }
                return
            }
            if (grantFromPool(head) && head !== entering) core.wake(head)
        }
    }

    /** False when the waiter has been withdrawn meanwhile; the withdrawing thread then finds it unlinked. */
    private fun grantFromPool(waiter: Waiter): Boolean {
        val wasHead = queue.head() === waiter
        unlink(waiter)
        if (!waiter.tryGrant()) {
            idleWaiters.wakeIfIdle(dropDemand(waiter.weight))
            return false
        }
        pool -= waiter.weight
        recordHolder(waiter.holder, waiter.caller)
        if (wasHead) {
            overtakes = 0
            queue.served(waiter)
        }
        return true
    }

    /** Takes [n] permits for a newcomer from the counter or, where it may overtake, from the counter and the pool. */
    fun takePermits(n: Int): Boolean {
        while (true) {
            val seen = core.counterWithoutPhantoms()
            val counter = core.unbiased(seen)
            val free = maxOf(counter, 0)
            when {
                counter >= n -> if (core.compareAndSet(seen, seen - n)) return true
                pool + free < n || !mayOvertake() -> return false
                core.compareAndSet(seen, seen - n) -> {
                    pool += free - n
                    return true
                }
            }
        }
    }

    /** Whether a newcomer may take permits before the queued waiters; if there are some, counts the overtake. */
    private fun mayOvertake(): Boolean {
        if (queue.size == 0) return true
        if (!mayBeOvertaken()) return false
        overtakes++
        return true
    }

    private fun mayBeOvertaken() = order == WaitOrder.UNFAIR && overtakes < WaitOrder.MAX_OVERTAKES

    /** [holder] took a permit; null is a holder whose priority cannot be boosted. See (6). [caller] is to be noted. */
    fun recordHolder(holder: BoostableCoroutine?, caller: NotedCaller?) {
        if (core.permits != 1) return
        core.recordSoleHolder(holder)
        core.noteSole(caller)
    }

    // ---- shares (invariant 1)

    /** Withdraws a demand of [weight]. Returns whether that makes the semaphore idle. */
    fun dropDemand(weight: Int): Boolean {
        val old = core.unbiased(core.getAndAdd(weight.toLong()))
        pool -= (old + weight).coerceIn(0L, weight.toLong())
        return old + weight == core.permits.toLong()
    }

    /** Returns [n] permits, released or of a grant that its waiter did not take. Returns whether all are back now. */
    fun returnPermits(n: Int): Boolean {
        val old = core.unbiased(core.getAndAdd(n.toLong()))
        addReleasedToPool(n.toLong(), old)
        return old + n == core.permits.toLong()
    }

    fun addReleasedToPool(n: Long, old: Long) {
        if (old < 0) pool += minOf(n, -old)
    }

    fun addResizeToPool(change: Long, old: Long) {
        if (change > 0) addReleasedToPool(change, old) else if (old < -change) pool += maxOf(old, 0) + change
    }

    /**
     * How many permits are free for certain, with [counter] unbiased: releases on their way to the lock count by the
     * counter, and those that have reached it count by pool.
     */
    fun certainlyFree(counter: Long): Long =
        if (counter >= 0) counter + maxOf(pool, 0) else maxOf(pool, counter + core.demand)
}
