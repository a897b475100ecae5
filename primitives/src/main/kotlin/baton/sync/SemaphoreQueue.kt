package baton.sync

import baton.Priority
import baton.waiting.FifoWaitQueue
import baton.waiting.PriorityWaitQueue
import baton.waiting.WaitQueue
import baton.waiting.Waiter
import baton.waiting.boost.Boosts
import baton.waiting.boost.clearSoleHolder
import baton.waiting.boost.countWaiter
import baton.waiting.boost.recordSoleHolder
import baton.waiting.boost.uncountWaiter
import kotlin.coroutines.CoroutineContext

/*
 * The queue of a semaphore (see SemaphoreCore.kt), and the account of the permits that the slow path grants:
 *
 *   pool     permits that releases brought, or waiting requests found free, and that no waiter has been granted yet
 *   demand   the total weight of the queued waiters
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
 * withdraws, or that does not find enough permits, keeps none: withdraw() and the next release look at the head again.
 */
internal abstract class SemaphoreQueue(permits: Int, acquired: Int, @JvmField protected val order: WaitOrder) :
    IdleWaiters(permits, acquired) {
    // Guarded by the lock.
    private val queue: WaitQueue = if (order == WaitOrder.PRIORITY) PriorityWaitQueue(::levelOf) else FifoWaitQueue()
    private var pool = 0L
    private var demand = 0L
    private var invited: Waiter? = null
    private var overtakes = 0

    val waiting: Int get() = decide { queue.size }

    /** The permits that are not held: exact whenever no operation is between its change of the counter and the lock. */
    val availablePermits: Int
        get() {
            val now = counter()
            if (now >= 0 && !hasUnfairWaiters()) return minOf(now, permits.toLong()).toInt()
            return decide { (maxOf(unbiased(counter()), 0L) + pool).coerceIn(0L, permits.toLong()).toInt() }
        }

    /**
     * Whether the pool may hold permits although the counter says that every demand is covered: see UNFAIR above. Read
     * without the lock, so a hint; a caller that needs the exact answer looks again under the lock.
     */
    protected fun hasUnfairWaiters(): Boolean = order == WaitOrder.UNFAIR && queue.size > 0

    private fun levelOf(waiter: Waiter) = ((waiter.tag as? Priority) ?: Priority.NORMAL).ordinal

    // ---- called by waiters

    override fun claim(waiter: Waiter): Boolean =
        decide {
            if (invited === waiter) invited = null
            val granted = queue.head() === waiter && waiter.weight <= pool && grantFromPool(waiter)
            admitHead()
            wakeIfIdle()
            granted
        }

    override fun withdraw(waiter: Waiter) {
        decide { if (waiter.linked) removeWithdrawn(waiter) }
    }

    override fun takeBack(waiter: Waiter) {
        if (waiter.weight == IDLE_WEIGHT) return
        clearSoleHolder()
        val last = returnPermits(waiter.weight)
        admitHead()
        wakeIfIdle(last)
    }

    // ---- enqueue and remove. All that follows is called under the lock.

    /** Enqueues [waiter], whose weight was subtracted from the counter, which was [old] before. */
    protected fun enqueueDemand(waiter: Waiter, old: Long): Int {
        pool += maxOf(old, 0)
        queue.add(waiter)
        countWaiter(waiter)
        demand += waiter.weight
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
    protected fun finishEnqueue(waiter: Waiter): Int {
        if (waiter.linked) {
            if (waiter.startWaiting()) return Waiter.WAITING
            removeWithdrawn(waiter)
        }
        return waiter.currentState
    }

    private fun removeWithdrawn(waiter: Waiter) {
        if (waiter.weight == IDLE_WEIGHT) return removeIdleWaiter(waiter)
        unlink(waiter)
        val last = dropDemand(waiter.weight)
        admitHead()
        wakeIfIdle(last)
    }

    private fun unlink(waiter: Waiter) {
        if (invited === waiter) invited = null
        if (order == WaitOrder.UNFAIR && queue.head() === waiter) overtakes = 0
        queue.remove(waiter)
        uncountWaiter(waiter)
        demand -= waiter.weight
    }

    protected fun failHeavierThan(weight: Int, reason: Any) {
        queue.forEach {
            if (it.weight > weight) {
                unlink(it)
                dropDemand(it.weight)
                if (it.tryFail(reason)) wake(it)
            }
        }
    }

    // ---- admission

    /**
     * Grants or invites the head for as long as it fits (invariant 2). The [entering] waiter is inside its own enqueue
     * call and needs no waking.
     */
    protected fun admitHead(entering: Waiter? = null) {
        while (true) {
            val head = queue.head() ?: return
            if (head.weight > pool) return
            if (head !== entering && head.invitable && mayBeOvertaken()) {
                if (invited == null) {
                    invited = head
                    invite(head)
                }
                return
            }
            if (grantFromPool(head) && head !== entering) wake(head)
        }
    }

    /** False when the waiter has been withdrawn meanwhile; the withdrawing thread then finds it unlinked. */
    private fun grantFromPool(waiter: Waiter): Boolean {
        val wasHead = queue.head() === waiter
        unlink(waiter)
        if (!waiter.tryGrant()) {
            wakeIfIdle(dropDemand(waiter.weight))
            return false
        }
        pool -= waiter.weight
        recordHolder(waiter.holder)
        if (wasHead) {
            overtakes = 0
            queue.served(waiter)
        }
        return true
    }

    /** Takes [n] permits for a newcomer from the counter or, where it may overtake, from the counter and the pool. */
    protected fun takePermits(n: Int): Boolean {
        while (true) {
            val seen = counterWithoutPhantoms()
            val counter = unbiased(seen)
            val free = maxOf(counter, 0)
            when {
                counter >= n -> if (compareAndSet(seen, seen - n)) return true
                pool + free < n || !mayOvertake() -> return false
                compareAndSet(seen, seen - n) -> {
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

    /** [holder] took a permit; null is a holder whose priority cannot be boosted. See (6). */
    protected fun recordHolder(holder: CoroutineContext?) {
        if (permits == 1) recordSoleHolder(holder)
    }

    /**
     * Reads without the lock. The write is visible to the recorded holder, and to any thread to which the holder has
     * handed the release.
     */
    protected fun hasRecordedHolder(): Boolean = Boosts.inUse && inheritance?.hasSole == true

    // ---- shares (invariant 1)

    /** Withdraws a demand of [weight]. Returns whether that makes the semaphore idle. */
    protected fun dropDemand(weight: Int): Boolean {
        val old = unbiased(getAndAdd(weight.toLong()))
        pool -= (old + weight).coerceIn(0L, weight.toLong())
        return old + weight == permits.toLong()
    }

    /** Returns [n] permits, released or of a grant that its waiter did not take. Returns whether all are back now. */
    protected fun returnPermits(n: Int): Boolean {
        val old = unbiased(getAndAdd(n.toLong()))
        addReleasedToPool(n.toLong(), old)
        return old + n == permits.toLong()
    }

    protected fun addReleasedToPool(n: Long, old: Long) {
        if (old < 0) pool += minOf(n, -old)
    }

    protected fun addResizeToPool(change: Long, old: Long) {
        if (change > 0) addReleasedToPool(change, old) else if (old < -change) pool += maxOf(old, 0) + change
    }

    /**
     * How many permits are free for certain, with [counter] unbiased: releases on their way to the lock count by the
     * counter, and those that have reached it count by pool.
     */
    protected fun certainlyFree(counter: Long): Long =
        if (counter >= 0) counter + maxOf(pool, 0) else maxOf(pool, counter + demand)
}
