package baton.sync.core

import baton.waiting.PaddedCounter

/*
 * The counter of a semaphore (see SemaphoreCore.kt), and how many permits there are.
 *
 *   counter ≥ 0              that many permits are free for any caller; every demand is covered
 *   counter < 0              that much demand is not covered: a waiter is queued, or a resize left a debt
 *   counter < BIASED_BELOW   the same, less BIAS: closed, awaited idle or being resized. No fast path succeeds, so
 *                            every operation takes the lock. unbiased() removes the bias.
 *
 * (3) A release of permits that are not held finds old ≥ permits. It cannot simply be undone, because another operation
 *     may already rely on it. While such phantoms exist, all permits are free, therefore counter = permits + phantoms.
 *     An acquire that finds counter > permits takes the lock, which removes the phantoms before it takes a permit. The
 *     releasing thread reduces the counter to permits if it is still above, and throws. So no caller ever holds a
 *     phantom.
 * (4) permits changes under the lock, between two changes of the counter that set and remove the bias. `limit` carries
 *     the number of resizes beside the permits: an operation that finds `limit` changed knows that the old value it
 *     read may belong to another bound, and does not treat the difference as a phantom. So an excess release that races
 *     with a resize may stay undetected, and so may one that races with releases whose waiters are being cancelled: the
 *     shares of those are still on their way to the pool.
 */
internal abstract class SemaphoreCounter(permits: Int, acquired: Int) : PaddedCounter() {
    /**
     * Low half: permits. High half: the version, which every resize and every new idle waiter advances. Written under
     * the lock.
     */
    @Volatile @JvmField internal var limit: Long = permits.toLong()

    /** Guarded by the lock. */
    private var biased = false

    /** The total weight of the queued waiters. Guarded by the lock. */
    @JvmField internal var demand = 0L

    init {
        initCounter(permits.toLong() - acquired)
    }

    val permits: Int
        get() = limit.toInt()

    /** Whether no release can grant [n] permits. Of 0 permits, only a resize grants any number: it is waited for. */
    fun exceedsPermits(n: Int, permits: Int = this.permits): Boolean = permits in 1 until n

    /** The counter without the bias. */
    fun unbiased(counter: Long): Long = if (counter < BIASED_BELOW) counter + BIAS else counter

    /** Removes phantoms (invariant 3) and returns the counter. Under the lock. */
    fun counterWithoutPhantoms(): Long {
        while (true) {
            val seen = counter()
            val phantoms = unbiased(seen) - permits
            if (phantoms <= 0) return seen
            compareAndSet(seen, seen - phantoms)
        }
    }

    /** Under the lock. */
    fun setBias(enabled: Boolean) {
        if (enabled == biased) return
        biased = enabled
        getAndAdd(if (enabled) -BIAS else BIAS)
    }

    /** Under the lock. Returns the unbiased counter from before. */
    fun changePermits(to: Int): Long {
        // Invariant 4. One step sets the bias and changes the counter.
        val bias = if (biased) 0L else BIAS
        val old = unbiased(getAndAdd(to.toLong() - permits - bias))
        advanceLimitVersion(to)
        getAndAdd(bias)
        return old
    }

    /** Under the lock. A thread that has read `limit` before sees that it changed, even if the permits are the same. */
    fun advanceLimitVersion(permits: Int = this.permits) {
        limit = (((limit ushr 32) + 1) shl 32) or permits.toLong()
    }

    companion object {
        const val BIASED_BELOW: Long = -(1L shl 61)
        private const val BIAS = 1L shl 62
    }
}
