package baton.sync

import baton.bridge.IDLE_WEIGHT
import baton.waiting.Waiter
import baton.waiting.boost.holdsNoMore
import kotlin.coroutines.CoroutineContext

/*
 * How it works
 *
 * One counter holds *free permits minus demanded weight*. One compare-and-set acquires, one fetch-and-add releases; while
 * no request has to wait that is all. A request that has to wait takes its weight off the counter under the lock, in the
 * step that enqueues it: so demand is never counted for a request that is not in the queue, and a release never brings
 * permits for one.
 *
 * Each file keeps its own invariants. It calls what stands above it in this table, and knows nothing of what is below:
 *
 *   SemaphoreCounter   what the counter says; the number of permits (3, 4)
 *   IdleWaiters    who waits until all permits are back (5)
 *   SemaphoreQueue    who waits for permits, whom a release lets in, whom a newcomer may overtake (1, 2)
 *   SemaphoreCore      the operations: their fast paths, what is left of them under the lock, and the end
 *
 * They are superclasses, not parts: the fast path of this one reads the fields of the others, and finds them without a
 * further object in between.
 *
 * Sources: the counter that goes negative is that of A. Koval, D. Khalanskiy, D. Alistarh, "CQS: A Formally-Verified
 * Framework for Fair and Abortable Synchronization" (PLDI 2023), section 4; head-of-line admission by weight is that of
 * golang.org/x/sync/semaphore; deciding under a lock and waking after it is that of tokio's batch_semaphore.
 */
internal class SemaphoreCore(
    permits: Int,
    acquired: Int,
    order: WaitOrder,
    private val describe: () -> String,
) : SemaphoreQueue(permits, acquired, order) {
    /** Written under the lock. */
    @Volatile
    private var closure: Closure? = null

    private class Closure(val cause: Throwable?)

    val isClosed: Boolean get() = closure != null

    // ---- acquire

    /** Whether a coroutine that can be lifted and takes [n] is to be noted as the holder of all there is. */
    fun isSole(n: Int): Boolean = n == 1 && permits == 1

    /** Takes [n] if that needs no waiting. */
    fun tryTake(n: Int, by: CoroutineContext? = null): Boolean {
        if (by != null && isSole(n)) return tryTakeSlowly(n, by)
        while (true) {
            val bound = limit
            val now = counter()
            when {
                now > bound.toInt() -> return tryTakeSlowly(n, by)
                now >= n -> if (compareAndSet(now, now - n)) return true
                mayFindInside(now) -> return tryTakeSlowly(n, by)
                // Who asked for no more than there were before a resize is refused, not told that others are before it.
                bound == limit -> if (n > bound.toInt()) throw refusal(n) else return false
            }
        }
    }

    private fun tryTakeSlowly(n: Int, by: CoroutineContext?): Boolean {
        var tooMany = false
        val taken =
            decide {
                tooMany = n > permits
                (closure == null && takeInside(n)).also { if (it) note(by) }
            }
        if (!taken) closure?.let { throw closed(it) }
        if (!taken && tooMany) throw refusal(n)
        return taken
    }

    /** Whether the pool may hold permits for a newcomer, although the counter says that they are not free for it. */
    private fun mayFindInside(counter: Long) = counter < GUARDED_BELOW || invites()

    override fun enqueue(waiter: Waiter): Int {
        if (permits == 1) waiter.look() else waiter.lookAway()
        return decide { enqueueInside(waiter) }
    }

    private fun enqueueInside(waiter: Waiter): Int {
        val weight = waiter.weight
        return when {
            weight == IDLE_WEIGHT -> {
                addIdler(waiter)
                settled(waiter)
            }
            closure != null || weight > permits -> {
                if (waiter.tryFail(closure ?: permits)) Waiter.FAILED else waiter.currentState
            }
            else -> {
                val old = real(demand(weight))
                if (old >= weight) grantAtOnce(waiter) else enqueueDemand(waiter, old)
            }
        }
    }

    /** Takes [weight] off the counter, whether it is there or not. Answers the counter before. */
    private fun demand(weight: Int): Long {
        while (true) {
            val seen = settledCounter()
            if (compareAndSet(seen, seen - weight)) return seen
        }
    }

    private fun grantAtOnce(waiter: Waiter): Int {
        if (waiter.tryGrant()) note(waiter.holder) else reportIdle(putBack(waiter.weight))
        return waiter.currentState
    }

    // ---- release

    /** False when fewer than [n] are held, in which case nothing has changed. */
    fun release(n: Int): Boolean = if (n == 1) releaseOne() else releaseMany(n)

    private fun releaseOne(): Boolean {
        if (invites() || hasNoted()) return releaseManySlowly(1)
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
            released(1, old)
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
            if (certainlyFree(inside) + n > permits) return@decide false
            holdsNoMore()
            val last = putBack(n)
            admit()
            reportIdle(last)
            true
        }

    // ---- size, end

    /** False when closed. */
    fun resize(newPermits: Int): Boolean =
        decide {
            if (closure != null) return@decide false
            val change = newPermits.toLong() - permits
            if (change == 0L) return@decide true
            holdsNoMore()
            resized(change, old = changePermits(newPermits))
            if (change < 0) failHeavierThan(newPermits, reason = newPermits)
            admit()
            reportIdle()
            true
        }

    /** Closes for newcomers and for all who wait; holders may still release. A second close changes nothing. */
    fun close(cause: Throwable?) {
        decide {
            if (closure != null) return@decide
            val closure = Closure(cause)
            // First of all: whoever has seen the closure must not find an open fast path afterwards.
            guardForGood()
            this.closure = closure
            failHeavierThan(0, reason = closure)
            reportIdle()
        }
    }

    override fun failure(waiter: Waiter): Throwable =
        when (val reason = waiter.reason) {
            is Closure -> closed(reason)
            else -> tooHeavy(waiter.weight, reason as Int)
        }

    /** Why [n], more than the permits just read, cannot be had. To be closed comes first: that is for ever. */
    fun refusal(n: Int): RuntimeException = closure?.let(::closed) ?: tooHeavy(n, permits)

    private fun tooHeavy(n: Int, bound: Int): IllegalArgumentException =
        IllegalArgumentException("permits = $n can never be acquired: ${describe()} has $bound")

    fun closedException(): SemaphoreClosedException = closed(closure!!)

    private fun closed(closure: Closure) = SemaphoreClosedException("${describe()} is closed", closure.cause)
}
