package baton.sync.core

import baton.monitoring.Monitored
import baton.sync.SemaphoreClosedException
import baton.sync.WaitOrder
import baton.waiting.BoostableCoroutine
import baton.waiting.DeadlockDetection
import baton.waiting.LockLook
import baton.waiting.NotedCaller
import baton.waiting.Waiter
import baton.waiting.boost.Boosts
import baton.waiting.boost.clearSoleHolder
import baton.waiting.boost.readUrgency
import baton.waiting.boost.skipUrgency
import baton.waiting.caller
import baton.waiting.holderNotes
import baton.waiting.labelOf
import baton.waiting.noteSole

/*
 * How it works
 *
 * One counter holds *free permits minus demanded weight*. One compare-and-set acquires, one fetch-and-add releases;
 * while no request has to wait, that is all. A request that has to wait subtracts its weight from the counter under the
 * lock, in the step that enqueues it: so demand is never counted for a request that is not in the queue, and a release
 * never brings permits for one.
 *
 * Each file keeps its own invariants. It calls the files above it in this table, and does not know those below:
 *
 *   SemaphoreRequest   how the core reads what a waiter asks for
 *   SemaphoreCounter   the counter and the number of permits (3, 4); a superclass, because the fast paths change it
 *   IdleWaiters        the callers of awaitIdle (5)
 *   SemaphoreQueue     the queued requests, the admission by a release, overtaking by newcomers (1, 2, 6)
 *   SemaphoreCore      the operations: their fast paths, their slow paths under the lock, and close
 *
 * Sources: the counter that goes negative is that of A. Koval, D. Khalanskiy, D. Alistarh, "CQS: A Formally-Verified
 * Framework for Fair and Abortable Synchronization" (PLDI 2023), section 4; head-of-line admission by weight is that of
 * golang.org/x/sync/semaphore; deciding under a lock and waking after it is that of tokio's batch_semaphore.
 */
internal class SemaphoreCore(
    permits: Int,
    acquired: Int,
    private val order: WaitOrder,
    private val semaphore: Monitored,
) : SemaphoreCounter(permits, acquired) {
    private val idleWaiters = IdleWaiters(this)
    private val queue = SemaphoreQueue(this, order, idleWaiters)

    /** Written under the lock. */
    @Volatile private var closure: Closure? = null

    private class Closure(val cause: Throwable?)

    val isClosed: Boolean
        get() = closure != null

    /** Whether no permit is held. */
    val isIdle: Boolean
        get() = idleWaiters.isIdle

    val waiting: Int
        get() = decide { queue.size }

    /** The permits that are not held: exact whenever no operation is between its change of the counter and the lock. */
    val availablePermits: Int
        get() {
            val now = counter()
            if (now >= 0 && !hasUnfairWaiters()) return minOf(now, permits.toLong()).toInt()
            return decide { queue.available().coerceIn(0L, permits.toLong()).toInt() }
        }

    /**
     * Whether the pool of the queue may hold permits although the counter says that every demand is covered: see UNFAIR
     * in SemaphoreQueue.kt. Read without the lock, so a hint.
     */
    private fun hasUnfairWaiters(): Boolean = order == WaitOrder.UNFAIR && queue.size > 0

    /**
     * Reads without the lock. The write is visible to the recorded holder, and to any thread to which the holder has
     * handed the release.
     */
    private fun hasRecordedHolder(): Boolean =
        (Boosts.inUse && inheritance?.hasSole == true) || (DeadlockDetection.isOn && permits == 1)

    // ---- acquire

    /** Whether a caller that takes [n] is recorded as the holder of the only permit, if it can be boosted. */
    fun takesOnlyPermit(n: Int): Boolean = n == 1 && permits == 1

    /**
     * Takes [n] if that needs no waiting. [newHolder] is the calling coroutine, if its priority can be boosted;
     * [caller] is to be noted as the holder of the only permit.
     */
    fun tryTakePermits(n: Int, newHolder: BoostableCoroutine? = null, caller: NotedCaller? = null): Boolean {
        if ((newHolder != null || caller != null) && takesOnlyPermit(n)) {
            return tryTakePermitsSlowly(n, newHolder, caller)
        }
        while (true) {
            val bound = limit
            val now = counter()
            when {
                now > bound.toInt() -> return tryTakePermitsSlowly(n, newHolder, caller)
                now >= n -> if (compareAndSet(now, now - n)) return true
                mayFindPermitsUnderLock(now) -> return tryTakePermitsSlowly(n, newHolder, caller)
                // The request may have passed checkWeight before a resize shrank the semaphore: then it throws here,
                // and does not return false as if other callers held the permits.
                bound == limit -> if (exceedsPermits(n, bound.toInt())) throw refusal(n) else return false
            }
        }
    }

    private fun tryTakePermitsSlowly(n: Int, newHolder: BoostableCoroutine?, caller: NotedCaller?): Boolean {
        var tooMany = false
        val taken = decide {
            tooMany = exceedsPermits(n)
            (closure == null && queue.takePermits(n)).also { if (it) queue.recordHolder(newHolder, caller) }
        }
        if (!taken) closure?.let { throw closed(it) }
        if (!taken && tooMany) throw refusal(n)
        return taken
    }

    /** Whether the pool may hold permits for a newcomer although the counter says that too few are free. */
    private fun mayFindPermitsUnderLock(counter: Long) = counter < BIASED_BELOW || hasUnfairWaiters()

    override fun enqueue(waiter: Waiter): Int {
        if (permits == 1) waiter.readUrgency() else waiter.skipUrgency()
        noteWait(waiter)
        return decide { enqueueUnderLock(waiter) }
    }

    private fun enqueueUnderLock(waiter: Waiter): Int {
        val weight = waiter.weight
        return when {
            waiter.awaitsIdle -> {
                idleWaiters.add(waiter)
                queue.finishEnqueue(waiter)
            }
            closure != null || exceedsPermits(weight) -> {
                if (waiter.tryFail(closure ?: permits)) Waiter.FAILED else waiter.currentState
            }
            else -> {
                val old = unbiased(addDemand(weight))
                if (old >= weight) grantAtOnce(waiter) else queue.enqueueDemand(waiter, old)
            }
        }
    }

    /** Subtracts [weight] from the counter, whether it is covered or not. Returns the counter from before. */
    private fun addDemand(weight: Int): Long {
        while (true) {
            val seen = counterWithoutPhantoms()
            if (compareAndSet(seen, seen - weight)) return seen
        }
    }

    private fun grantAtOnce(waiter: Waiter): Int {
        if (waiter.tryGrant()) {
            queue.recordHolder(waiter.holder, waiter.caller)
        } else {
            idleWaiters.wakeIfIdle(queue.returnPermits(waiter.weight))
        }
        return waiter.currentState
    }

    override val queuedWaiters: Int
        get() = queue.size

    override fun visitWaiters(limit: Int, visit: (Waiter) -> Unit) {
        queue.visitWaiters(limit, visit)
    }

    override val notesHolders: Boolean
        get() = permits == 1

    override fun lookForDeadlocks(look: LockLook) {
        if (permits != 1) return
        look.addHold(holderNotes?.sole, LockLook.SOLE)
        visitWaiters(Int.MAX_VALUE) { look.addWait(it, LockLook.SOLE) }
    }

    // ---- called by waiters

    override fun claim(waiter: Waiter): Boolean = decide { queue.claim(waiter) }

    override fun withdraw(waiter: Waiter) {
        decide { if (waiter.linked) queue.removeWithdrawn(waiter) }
    }

    override fun takeBack(waiter: Waiter) {
        if (waiter.awaitsIdle) return
        clearSoleHolder()
        noteSole(null)
        admitReturned(isLast = queue.returnPermits(waiter.weight))
    }

    // ---- release

    /** False when fewer than [n] are held, in which case nothing has changed. */
    fun release(n: Int): Boolean = if (n == 1) releaseOne() else releaseMany(n)

    private fun releaseOne(): Boolean {
        val bound = limit
        // With 0 permits a negative counter does not say that permits are held: waiters may just wait for a resize.
        if (bound.toInt() == 0 || hasUnfairWaiters() || hasRecordedHolder()) return releaseManySlowly(1)
        val old = getAndAdd(1)
        return if (old >= 0 && old < bound.toInt()) true else releaseOneSlowly(old, bound)
    }

    private fun releaseOneSlowly(first: Long, bound: Long): Boolean = decide {
        val old = unbiased(first)
        if (old >= permits && bound == limit) {
            counterWithoutPhantoms()
            return@decide false
        }
        queue.addReleasedToPool(1, old)
        queue.admitHead()
        idleWaiters.wakeIfIdle(wasIdle = first < BIASED_BELOW && bound == limit && old + 1 == permits.toLong())
        true
    }

    private fun releaseMany(n: Int): Boolean {
        while (true) {
            val bound = limit
            val now = counter()
            if (now < 0 || now > bound.toInt() || hasUnfairWaiters()) return releaseManySlowly(n)
            if (now + n > bound.toInt()) {
                if (bound == limit) return false
            } else if (compareAndSet(now, now + n)) {
                return true
            }
        }
    }

    private fun releaseManySlowly(n: Int): Boolean = decide { releaseUnderLock(n) }

    private fun releaseUnderLock(n: Int): Boolean {
        while (true) {
            val seen = counterWithoutPhantoms()
            val old = unbiased(seen)
            if (queue.certainlyFree(old) + n > permits) return false
            clearSoleHolder()
            noteSole(null)
            // Another release may have changed the counter on the fast path: then fewer permits are held.
            if (compareAndSet(seen, seen + n)) {
                queue.addReleasedToPool(n.toLong(), old)
                admitReturned(isLast = old + n == permits.toLong())
                return true
            }
        }
    }

    private fun admitReturned(isLast: Boolean) {
        queue.admitHead()
        idleWaiters.wakeIfIdle(isLast)
    }

    // ---- resize, close

    /** False when closed. */
    fun resize(newPermits: Int): Boolean = decide {
        if (closure != null) return@decide false
        val change = newPermits.toLong() - permits
        if (change == 0L) return@decide true
        val hadNone = permits == 0
        clearSoleHolder()
        noteSole(null)
        queue.addResizeToPool(change, old = changePermits(newPermits))
        if (newPermits > 0 && (change < 0 || hadNone)) queue.failHeavierThan(newPermits, reason = newPermits)
        queue.admitHead()
        idleWaiters.wakeIfIdle()
        true
    }

    /** Fails newcomers and all waiters; holders may still release. A second close changes nothing. */
    fun close(cause: Throwable?) {
        decide {
            if (closure != null) return@decide
            val closure = Closure(cause)
            // Before the closure is published: a thread that has seen it must not find an open fast path afterwards.
            idleWaiters.biasForGood()
            this.closure = closure
            queue.failHeavierThan(0, reason = closure)
            idleWaiters.wakeIfIdle()
        }
    }

    override fun failure(waiter: Waiter): Throwable =
        when (val reason = waiter.outcome) {
            is Closure -> closed(reason)
            else -> tooHeavy(waiter.weight, reason as Int)
        }

    override fun label(): String = labelOf("Semaphore", semaphore.name)

    override fun toString(): String = semaphore.toString()

    override fun verbOf(waiter: Waiter): String = if (waiter.awaitsIdle) "awaitIdle" else "acquire"

    /**
     * The exception for a request of [n] permits, more than there are. If the semaphore is closed that is the reason
     * given, because it is final.
     */
    fun refusal(n: Int): RuntimeException = closure?.let(::closed) ?: tooHeavy(n, permits)

    private fun tooHeavy(n: Int, bound: Int): IllegalArgumentException =
        IllegalArgumentException("permits = $n, must be at most $bound, the permits of ${label()}")

    fun closedException(): SemaphoreClosedException = closed(closure!!)

    private fun closed(closure: Closure) = SemaphoreClosedException("${label()} is closed", closure.cause)
}
