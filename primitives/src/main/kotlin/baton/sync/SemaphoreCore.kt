package baton.sync

import baton.waiting.FifoLine
import baton.waiting.IDLE_WEIGHT
import baton.waiting.PaddedCounter
import baton.waiting.PriorityLine
import baton.waiting.WaitLine
import baton.waiting.Waiter

/*
 * How it works
 *
 * One counter holds *free permits minus demanded weight*. One fetch-and-add acquires, one releases; while nobody has to
 * wait that is all. Who learns from the old value that somebody has to wait goes through the lock.
 *
 *   counter ≥ 0     that many permits are free for anybody; every demand is covered
 *   counter < 0     that much demand is not covered: somebody waits, or there is a debt after a resize
 *   counter < GUARDED_BELOW   the same, less BIAS: closed, awaited idle or being resized. No fast path succeeds, so
 *                   every operation comes to the lock. real() takes the bias off.
 *
 * Under the lock stands the ledger of those permits that the slow path hands out:
 *
 *   pool     permits that releases have brought, or heavy requests found, and no waiter has been given yet
 *   demand   the weight in the line
 *
 * (1) With all operations at rest, pool = demand + min(counter, 0). In between, an operation that has changed the counter
 *     and not yet reached the lock owes its share, which only the old value of its own fetch-and-add decides:
 *       release n, old < 0        brings min(n, -old)     (the rest is free for anybody)
 *       acquire 1, old ≤ 0        demands 1, brings nothing
 *       acquire n, under the lock: demands n, brings max(old, 0)
 *       demand w withdrawn        takes clamp(old + w, 0, w): what a release on its way had covered is free again
 *       grow by d                 as release d
 *       shrink by d, old < d      brings max(old, 0) and takes d: a pool below zero is a debt, which releases pay off
 *     So pool may be below zero while shares are on their way, and nothing is granted then.
 * (2) The head of the line is granted as soon as it fits into pool, and nobody is before it. Since a head that waits keeps
 *     the counter below zero, no fast path succeeds beside it: no newcomer overtakes, and a permit goes from hand to hand.
 * (3) A release too many: it finds old ≥ permits. It cannot simply be undone, for somebody may already count on it. While
 *     such phantoms exist all permits are free, therefore counter = permits + phantoms. Whoever acquires and finds
 *     old > permits has taken away a phantom and tries again; the culprit brings the counter down to permits if it is
 *     still above, and throws. So a phantom is never held.
 * (4) permits changes under the lock, between two changes of the counter that put the bias on and off. `limit` carries
 *     the number of resizes beside the permits: an operation that finds `limit` changed knows that its old value may
 *     belong to another bound, and does not suspect a phantom. So a release too many that races with a resize may go
 *     unnoticed, and so may one that races with others whose waiters are being cancelled: their share was on its way.
 * (5) Idle means counter = permits. Whoever waits for it puts the bias on, so that every release comes to the lock and
 *     knows from its old value whether it was the last, even if the next acquire was faster than its report.
 *
 * UNFAIR: a release does not grant to the head but *invites* it: the head comes to claim() in its own world and takes what
 * is free then. Meanwhile newcomers may take from pool, MAX_OVERTAKES of them for one head; after that the head is granted
 * like everywhere else. One invitation is out at a time. Whoever was invited and leaves, or does not find enough, leaves
 * no permit behind: withdraw() and the next release look at the head again.
 *
 * Sources: the counter that goes negative is that of A. Koval, D. Khalanskiy, D. Alistarh, "CQS: A Formally-Verified
 * Framework for Fair and Abortable Synchronization" (PLDI 2023), section 4; head-of-line admission by weight is that of
 * golang.org/x/sync/semaphore; deciding under a lock and waking after it is that of tokio's batch_semaphore.
 */
internal class SemaphoreCore(
    permits: Int,
    acquired: Int,
    val order: WaitOrder,
    private val describe: () -> String,
) : PaddedCounter() {
    /** Low half: permits. High half: how often they were changed, or an idler came. Changed under the lock. */
    @Volatile
    private var limit: Long = permits.toLong()

    // Guarded by the lock.
    private val line: WaitLine = if (order == WaitOrder.PRIORITY) PriorityLine() else FifoLine()
    private var pool = 0L
    private var demand = 0L
    private val idlers = FifoLine()
    private var biased = false
    private var invited: Waiter? = null
    private var overtakes = 0

    @Volatile
    private var closure: Closure? = null

    private class Closure(val cause: Throwable?)

    init {
        initCounter(permits.toLong() - acquired)
    }

    val permits: Int get() = limit.toInt()

    val waiting: Int get() = decide { line.size }

    val isClosed: Boolean get() = closure != null

    /** What nobody holds: exact whenever no other operation is between its counter and its turn at the lock. */
    val availablePermits: Int
        get() {
            val now = counter()
            if (now >= 0 && !invites()) return minOf(now, permits.toLong()).toInt()
            return decide { (maxOf(real(counter()), 0L) + pool).coerceIn(0L, permits.toLong()).toInt() }
        }

    /** Whether nobody holds a permit. */
    val isIdle: Boolean
        get() {
            val bound = limit
            val now = counter()
            if (now >= 0) return now >= bound.toInt() && bound == limit
            return now < GUARDED_BELOW && decide { real(counter()) >= permits }
        }

    // ---- acquire

    /** Takes [n], or answers false with nothing taken; then 1 is announced, more is not. */
    fun take(n: Int): Boolean = if (n == 1) takeOne() else tryTake(n)

    private fun takeOne(): Boolean {
        val bound = limit
        val old = getAndAdd(-1)
        return if (old >= 1 && old <= bound.toInt()) true else takeOneSlowly(old, bound)
    }

    private fun takeOneSlowly(first: Long, bound: Long): Boolean {
        // It has to wait, and announced that. Whatever else there is to see, enqueue sees.
        if (first <= 0 && first > GUARDED_BELOW && order != WaitOrder.UNFAIR) return false
        var refusedBy: Closure? = null
        val taken =
            decide {
                var old = real(first)
                // Invariant 3: a phantom taken away. Once `limit` has changed, nobody can tell any more.
                if (old > permits && bound == limit) {
                    do old = real(getAndAdd(-1)) while (old > permits)
                }
                refusedBy = closure
                when {
                    refusedBy != null -> {
                        reportIdle(if (old >= 1) putBack(1) else drop(1))
                        false
                    }
                    old >= 1 -> true
                    pool >= 1 && mayOvertake() -> {
                        pool -= 1
                        true
                    }
                    else -> false
                }
            }
        refusedBy?.let { throw closed(it) }
        return taken
    }

    /** Takes [n] if that needs no waiting; never announces. */
    fun tryTake(n: Int): Boolean {
        while (true) {
            val bound = limit
            val now = counter()
            when {
                now > bound.toInt() -> return tryTakeSlowly(n)
                now >= n -> if (compareAndSet(now, now - n)) return true
                mayFindInside(now) -> return tryTakeSlowly(n)
                // Who asked for no more than there were before a resize is refused, not told that others are before it.
                bound == limit -> if (n > bound.toInt()) throw refusal(n) else return false
            }
        }
    }

    private fun tryTakeSlowly(n: Int): Boolean {
        var tooMany = false
        val taken =
            decide {
                tooMany = n > permits
                closure == null && takeInside(n)
            }
        if (!taken) closure?.let { throw closed(it) }
        if (!taken && tooMany) throw refusal(n)
        return taken
    }

    /** Under the lock. Takes from the counter, or from the pool where a newcomer may. */
    private fun takeInside(n: Int): Boolean {
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

    /** Whether the pool may hold permits for a newcomer, although the counter says that they are not free for it. */
    private fun mayFindInside(counter: Long) = counter < GUARDED_BELOW || invites()

    /**
     * Whether the pool may hold permits although the counter says that every demand is covered: see UNFAIR above. Read
     * without the lock; who must know looks again under it.
     */
    private fun invites() = order == WaitOrder.UNFAIR && line.size > 0

    /** Whether a newcomer may take what fits, before those in the line; if there are some, that is counted. */
    private fun mayOvertake(): Boolean {
        if (line.size == 0) return true
        if (!mayBeOvertaken()) return false
        overtakes++
        return true
    }

    private fun mayBeOvertaken() = order == WaitOrder.UNFAIR && overtakes < WaitOrder.MAX_OVERTAKES

    override fun enqueue(waiter: Waiter, announced: Boolean): Int =
        decide {
            val weight = waiter.weight
            when {
                weight == IDLER -> enqueueIdler(waiter)
                closure != null || weight > permits -> {
                    if (announced) reportIdle(drop(weight))
                    if (waiter.tryFail(closure ?: permits)) Waiter.FAILED else waiter.currentState
                }
                else -> {
                    val old = if (announced) 0L else real(announce(weight))
                    if (old >= weight) grantAtOnce(waiter) else enqueueDemand(waiter, old)
                }
            }
        }

    private fun announce(weight: Int): Long {
        while (true) {
            val seen = settledCounter()
            if (compareAndSet(seen, seen - weight)) return seen
        }
    }

    private fun grantAtOnce(waiter: Waiter): Int {
        if (!waiter.tryGrant()) reportIdle(putBack(waiter.weight))
        return waiter.currentState
    }

    private fun enqueueDemand(waiter: Waiter, old: Long): Int {
        pool += maxOf(old, 0)
        line.add(waiter)
        demand += waiter.weight
        if (order == WaitOrder.UNFAIR && pool >= waiter.weight && mayOvertake()) {
            grantFromPool(waiter)
        } else {
            admit(entering = waiter)
        }
        return settled(waiter)
    }

    /** From WAITING on a canceller may resume it: its state must not be read again here, or both would. */
    private fun settled(waiter: Waiter): Int {
        if (waiter.linked) {
            if (waiter.startWaiting()) return Waiter.WAITING
            leave(waiter)
        }
        return waiter.currentState
    }

    /** Invariant 2. The [entering] waiter is on its way in and needs no waking. */
    private fun admit(entering: Waiter? = null) {
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
        if (wasHead) {
            overtakes = 0
            line.served(waiter)
        }
        return true
    }

    override fun claim(waiter: Waiter): Boolean =
        decide {
            if (invited === waiter) invited = null
            val granted = line.head() === waiter && waiter.weight <= pool && grantFromPool(waiter)
            admit()
            reportIdle()
            granted
        }

    // ---- leave

    override fun unannounce(weight: Int) {
        decide {
            val last = drop(weight)
            admit()
            reportIdle(last)
        }
    }

    override fun withdraw(waiter: Waiter) {
        decide { if (waiter.linked) leave(waiter) }
    }

    private fun leave(waiter: Waiter) {
        if (waiter.weight == IDLER) {
            idlers.remove(waiter)
            settleBias()
        } else {
            unlink(waiter)
            val last = drop(waiter.weight)
            admit()
            reportIdle(last)
        }
    }

    private fun unlink(waiter: Waiter) {
        if (invited === waiter) invited = null
        if (order == WaitOrder.UNFAIR && line.head() === waiter) overtakes = 0
        line.remove(waiter)
        demand -= waiter.weight
    }

    /** A demand withdrawn (invariant 1). Whether all permits are back by that. */
    private fun drop(weight: Int): Boolean {
        val old = real(getAndAdd(weight.toLong()))
        pool -= (old + weight).coerceIn(0L, weight.toLong())
        return old + weight == permits.toLong()
    }

    /** A grant that nobody took, or permits released (invariant 1). Whether all permits are back by that. */
    private fun putBack(n: Int): Boolean {
        val old = real(getAndAdd(n.toLong()))
        if (old < 0) pool += minOf(n.toLong(), -old)
        return old + n == permits.toLong()
    }

    override fun takeBack(waiter: Waiter) {
        if (waiter.weight == IDLER) return
        val last = putBack(waiter.weight)
        admit()
        reportIdle(last)
    }

    // ---- release

    /** False when fewer than [n] are held, in which case nothing has changed. */
    fun release(n: Int): Boolean = if (n == 1) releaseOne() else releaseMany(n)

    private fun releaseOne(): Boolean {
        if (invites()) return releaseManySlowly(1)
        val bound = limit
        val old = getAndAdd(1)
        return if (old >= 0 && old < bound.toInt()) true else releaseOneSlowly(old, bound)
    }

    private fun releaseOneSlowly(first: Long, bound: Long): Boolean =
        decide {
            val old = real(first)
            if (old >= permits && bound == limit) {
                settledCounter()
                return@decide false
            }
            if (old < 0) pool += 1
            admit()
            reportIdle(wasIdle = first < GUARDED_BELOW && bound == limit && old + 1 == permits.toLong())
            true
        }

    private fun releaseMany(n: Int): Boolean {
        while (true) {
            val bound = limit
            val now = counter()
            if (now < 0 || now > bound.toInt() || invites()) return releaseManySlowly(n)
            if (now + n > bound.toInt()) {
                if (bound == limit) return false
            } else if (compareAndSet(now, now + n)) {
                return true
            }
        }
    }

    private fun releaseManySlowly(n: Int): Boolean =
        decide {
            val inside = real(settledCounter())
            // What is certainly free: releases on their way to the lock count by the counter, those that arrived by pool.
            val free = if (inside >= 0) inside + maxOf(pool, 0) else maxOf(pool, inside + demand)
            if (free + n > permits) return@decide false
            val last = putBack(n)
            admit()
            reportIdle(last)
            true
        }

    /** The counter without phantoms (invariant 3). */
    private fun settledCounter(): Long {
        while (true) {
            val seen = counter()
            val phantoms = real(seen) - permits
            if (phantoms <= 0) return seen
            compareAndSet(seen, seen - phantoms)
        }
    }

    // ---- idleness, size, end

    private fun nextLimit(permits: Int) = (((limit ushr 32) + 1) shl 32) or permits.toLong()

    private fun enqueueIdler(waiter: Waiter): Int {
        idlers.add(waiter)
        // A release that has seen the older limit does not tell this one of a moment before it came.
        limit = nextLimit(permits)
        settleBias()
        reportIdle(entering = waiter)
        return settled(waiter)
    }

    private fun reportIdle(wasIdle: Boolean = false, entering: Waiter? = null) {
        if (idlers.size == 0 || (!wasIdle && real(counter()) < permits)) return
        idlers.forEach {
            idlers.remove(it)
            if (it.tryGrant() && it !== entering) wake(it)
        }
        settleBias()
    }

    private fun settleBias(closing: Boolean = false) {
        val wanted = closing || closure != null || idlers.size > 0
        if (wanted == biased) return
        biased = wanted
        getAndAdd(if (wanted) -BIAS else BIAS)
    }

    /** False when closed. */
    fun resize(newPermits: Int): Boolean =
        decide {
            if (closure != null) return@decide false
            val change = newPermits.toLong() - permits
            if (change == 0L) return@decide true
            // Invariant 4. Bias and change go on in one step.
            val bias = if (biased) 0L else BIAS
            val old = real(getAndAdd(change - bias))
            limit = nextLimit(newPermits)
            getAndAdd(bias)
            if (change > 0) {
                if (old < 0) pool += minOf(change, -old)
            } else if (old < -change) {
                pool += maxOf(old, 0) + change
            }
            if (change < 0) failWhere(newPermits) { it.weight > newPermits }
            admit()
            reportIdle()
            true
        }

    /** Closes for newcomers and for all who wait; holders may still release. A second close changes nothing. */
    fun close(cause: Throwable?) {
        decide {
            if (closure != null) return@decide
            val closure = Closure(cause)
            // The bias first: whoever has seen the closure must not find an open fast path afterwards.
            settleBias(closing = true)
            this.closure = closure
            failWhere(closure) { true }
            reportIdle()
        }
    }

    private inline fun failWhere(reason: Any, crossinline condition: (Waiter) -> Boolean) {
        line.forEach {
            if (condition(it)) {
                unlink(it)
                drop(it.weight)
                if (it.tryFail(reason)) wake(it)
            }
        }
    }

    override fun failure(waiter: Waiter): Throwable =
        when (val reason = waiter.tag) {
            is Closure -> closed(reason)
            else -> tooHeavy(waiter.weight, reason as Int)
        }

    /** Why [n], more than the permits just read, cannot be had. To be closed comes first: that is for ever. */
    fun refusal(n: Int): RuntimeException = closure?.let(::closed) ?: tooHeavy(n, permits)

    private fun tooHeavy(n: Int, bound: Int): IllegalArgumentException =
        IllegalArgumentException("permits = $n can never be acquired: ${describe()} has $bound")

    fun closedException(): SemaphoreClosedException = closed(closure!!)

    private fun closed(closure: Closure) = SemaphoreClosedException("${describe()} is closed", closure.cause)

    internal companion object {
        /** The weight of those who wait for idleness: they take nothing. */
        const val IDLER: Int = IDLE_WEIGHT

        private const val BIAS = 1L shl 62
        private const val GUARDED_BELOW = -(1L shl 61)

        private fun real(counter: Long) = if (counter < GUARDED_BELOW) counter + BIAS else counter
    }
}
