package baton.sync

import baton.Priority
import baton.bridge.IDLE_WEIGHT
import baton.waiting.FifoWaitQueue
import baton.waiting.PriorityWaitQueue
import baton.waiting.WaitQueue
import baton.waiting.Waiter
import baton.waiting.boost.Boosts
import baton.waiting.boost.holds
import baton.waiting.boost.holdsNoMore
import baton.waiting.boost.joins
import baton.waiting.boost.leaves
import kotlin.coroutines.CoroutineContext

/*
 * The line of a semaphore (see SemaphoreCore.kt), and the ledger of those permits that the slow path hands out:
 *
 *   pool     permits that releases have brought, or heavy requests found, and no waiter has been given yet
 *   demand   the weight in the line
 *
 * (1) With all operations at rest, pool = demand + min(counter, 0). In between, an operation that has changed the
 *     counter and not yet reached the lock owes its share, which only the old value of its own fetch-and-add decides:
 *       release n, old < 0        brings min(n, -old)     (the rest is free for anybody)
 *       acquire n, under the lock: demands n, brings max(old, 0)
 *       demand w withdrawn        takes clamp(old + w, 0, w): what a release on its way had covered is free again
 *       grow by d                 as release d
 *       shrink by d, old < d      brings max(old, 0) and takes d: a pool below zero is a debt, which releases pay off
 *     So pool may be below zero while shares are on their way, and nothing is granted then.
 * (2) The head of the line is granted as soon as it fits into pool, and nobody is before it. Since a head that waits
 *     keeps the counter below zero, no fast path succeeds beside it: no newcomer overtakes, and a permit goes from
 *     hand to hand.
 *
 * (6) The holder of the only permit is noted, if it can be lifted, in the step that gives it the permit. Who releases
 *     while one is noted comes to the lock before the counter changes: so the note is always that of who holds it.
 *     While there are more permits than one, nobody is noted: what is released could be anybody's.
 *
 * UNFAIR: a release does not grant to the head but *invites* it: the head comes to claim() in its own world and takes
 * what is free then. Meanwhile newcomers may take from pool, MAX_OVERTAKES of them for one head; after that the head
 * is granted like everywhere else. One invitation is out at a time. Whoever was invited and leaves, or does not find
 * enough, leaves no permit behind: withdraw() and the next release look at the head again.
 */
internal abstract class SemaphoreQueue(permits: Int, acquired: Int, @JvmField protected val order: WaitOrder) :
    IdleWaiters(permits, acquired) {
    // Guarded by the lock.
    private val line: WaitQueue = if (order == WaitOrder.PRIORITY) PriorityWaitQueue(::levelOf) else FifoWaitQueue()
    private var pool = 0L
    private var demand = 0L
    private var invited: Waiter? = null
    private var overtakes = 0

    val waiting: Int get() = decide { line.size }

    /** What nobody holds: exact whenever no other operation is between its counter and its turn at the lock. */
    val availablePermits: Int
        get() {
            val now = counter()
            if (now >= 0 && !invites()) return minOf(now, permits.toLong()).toInt()
            return decide { (maxOf(real(counter()), 0L) + pool).coerceIn(0L, permits.toLong()).toInt() }
        }

    /**
     * Whether the pool may hold permits although the counter says that every demand is covered: see UNFAIR above. Read
     * without the lock; who must know looks again under it.
     */
    protected fun invites(): Boolean = order == WaitOrder.UNFAIR && line.size > 0

    private fun levelOf(waiter: Waiter) = ((waiter.tag as? Priority) ?: Priority.NORMAL).ordinal

    // ---- the line as its waiters see it

    override fun claim(waiter: Waiter): Boolean =
        decide {
            if (invited === waiter) invited = null
            val granted = line.head() === waiter && waiter.weight <= pool && grantFromPool(waiter)
            admit()
            reportIdle()
            granted
        }

    override fun withdraw(waiter: Waiter) {
        decide { if (waiter.linked) leave(waiter) }
    }

    override fun takeBack(waiter: Waiter) {
        if (waiter.weight == IDLE_WEIGHT) return
        holdsNoMore()
        val last = putBack(waiter.weight)
        admit()
        reportIdle(last)
    }

    // ---- in, and out. All that follows is called under the lock.

    /** The [waiter]'s weight was taken off the counter, which was [old] before. */
    protected fun enqueueDemand(waiter: Waiter, old: Long): Int {
        pool += maxOf(old, 0)
        line.add(waiter)
        joins(waiter)
        demand += waiter.weight
        if (order == WaitOrder.UNFAIR && pool >= waiter.weight && mayOvertake()) {
            grantFromPool(waiter)
        } else {
            admit(entering = waiter)
        }
        return settled(waiter)
    }

    /** From WAITING on a canceller may resume it: its state must not be read again here, or both would. */
    protected fun settled(waiter: Waiter): Int {
        if (waiter.linked) {
            if (waiter.startWaiting()) return Waiter.WAITING
            leave(waiter)
        }
        return waiter.currentState
    }

    private fun leave(waiter: Waiter) {
        if (waiter.weight == IDLE_WEIGHT) return removeIdler(waiter)
        unlink(waiter)
        val last = drop(waiter.weight)
        admit()
        reportIdle(last)
    }

    private fun unlink(waiter: Waiter) {
        if (invited === waiter) invited = null
        if (order == WaitOrder.UNFAIR && line.head() === waiter) overtakes = 0
        line.remove(waiter)
        leaves(waiter)
        demand -= waiter.weight
    }

    protected fun failHeavierThan(weight: Int, reason: Any) {
        line.forEach {
            if (it.weight > weight) {
                unlink(it)
                drop(it.weight)
                if (it.tryFail(reason)) wake(it)
            }
        }
    }

    // ---- who is let in

    /** Invariant 2. The [entering] waiter is on its way in and needs no waking. */
    protected fun admit(entering: Waiter? = null) {
        while (true) {
            val head = line.head() ?: return
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

    /** False when the waiter has been withdrawn meanwhile; whoever did so finds it unlinked. */
    private fun grantFromPool(waiter: Waiter): Boolean {
        val wasHead = line.head() === waiter
        unlink(waiter)
        if (!waiter.tryGrant()) {
            reportIdle(drop(waiter.weight))
            return false
        }
        pool -= waiter.weight
        note(waiter.holder)
        if (wasHead) {
            overtakes = 0
            line.served(waiter)
        }
        return true
    }

    /** Lets a newcomer have [n] from the counter, or from both where it may. */
    protected fun takeInside(n: Int): Boolean {
        while (true) {
            val seen = settledCounter()
            val inside = real(seen)
            val free = maxOf(inside, 0)
            when {
                inside >= n -> if (compareAndSet(seen, seen - n)) return true
                pool + free < n || !mayOvertake() -> return false
                compareAndSet(seen, seen - n) -> {
                    pool += free - n
                    return true
                }
            }
        }
    }

    /** Whether a newcomer may take what fits, before those in the line; if there are some, that is counted. */
    private fun mayOvertake(): Boolean {
        if (line.size == 0) return true
        if (!mayBeOvertaken()) return false
        overtakes++
        return true
    }

    private fun mayBeOvertaken() = order == WaitOrder.UNFAIR && overtakes < WaitOrder.MAX_OVERTAKES

    /** A permit was taken by [holder], or by somebody who cannot be lifted; see (6). */
    protected fun note(holder: CoroutineContext?) {
        if (permits == 1) holds(holder)
    }

    /** Without the lock. Who was noted sees it, and so does whom that one has told to release in its place. */
    protected fun hasNoted(): Boolean = Boosts.inUse && inheritance?.hasSole == true

    // ---- shares (invariant 1)

    /** A demand withdrawn. Whether all permits are back by that. */
    protected fun drop(weight: Int): Boolean {
        val old = real(getAndAdd(weight.toLong()))
        pool -= (old + weight).coerceIn(0L, weight.toLong())
        return old + weight == permits.toLong()
    }

    /** A grant that nobody took, or permits released. Whether all permits are back by that. */
    protected fun putBack(n: Int): Boolean {
        val old = real(getAndAdd(n.toLong()))
        released(n.toLong(), old)
        return old + n == permits.toLong()
    }

    protected fun released(n: Long, old: Long) {
        if (old < 0) pool += minOf(n, -old)
    }

    protected fun resized(change: Long, old: Long) {
        if (change > 0) released(change, old) else if (old < -change) pool += maxOf(old, 0) + change
    }

    /** What is certainly free: releases on their way to the lock count by the counter, those that arrived by pool. */
    protected fun certainlyFree(inside: Long): Long =
        if (inside >= 0) inside + maxOf(pool, 0) else maxOf(pool, inside + demand)
}
