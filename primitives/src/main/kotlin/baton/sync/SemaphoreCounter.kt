package baton.sync

import baton.waiting.PaddedCounter

/*
 * The counter of a semaphore (see SemaphoreCore.kt), and how many permits there are.
 *
 *   counter ≥ 0     that many permits are free for anybody; every demand is covered
 *   counter < 0     that much demand is not covered: somebody waits, or there is a debt after a resize
 *   counter < GUARDED_BELOW   the same, less BIAS: closed, awaited idle or being resized. No fast path succeeds, so
 *                   every operation comes to the lock. real() takes the bias off.
 *
 * (3) A release too many: it finds old ≥ permits. It cannot simply be undone, for somebody may already count on it.
 *     While such phantoms exist all permits are free, therefore counter = permits + phantoms. Whoever acquires and
 *     finds old > permits has taken away a phantom and tries again; the culprit brings the counter down to permits if
 *     it is still above, and throws. So a phantom is never held.
 * (4) permits changes under the lock, between two changes of the counter that put the bias on and off. `limit` carries
 *     the number of resizes beside the permits: an operation that finds `limit` changed knows that its old value may
 *     belong to another bound, and does not suspect a phantom. So a release too many that races with a resize may go
 *     unnoticed, and so may one that races with others whose waiters are being cancelled: their share was on its way.
 */
internal abstract class SemaphoreCounter(permits: Int, acquired: Int) : PaddedCounter() {
    /** Low half: permits. High half: how often they were changed, or an idler came. Changed under the lock. */
    @Volatile
    @JvmField
    protected var limit: Long = permits.toLong()

    /** Guarded by the lock. */
    private var biased = false

    init {
        initCounter(permits.toLong() - acquired)
    }

    val permits: Int get() = limit.toInt()

    protected fun real(counter: Long): Long = if (counter < GUARDED_BELOW) counter + BIAS else counter

    /** The counter without phantoms (invariant 3). Under the lock. */
    protected fun settledCounter(): Long {
        while (true) {
            val seen = counter()
            val phantoms = real(seen) - permits
            if (phantoms <= 0) return seen
            compareAndSet(seen, seen - phantoms)
        }
    }

    /** Under the lock. */
    protected fun setBias(wanted: Boolean) {
        if (wanted == biased) return
        biased = wanted
        getAndAdd(if (wanted) -BIAS else BIAS)
    }

    /** Under the lock. Answers the old counter. */
    protected fun changePermits(to: Int): Long {
        // Invariant 4. Bias and change go on in one step.
        val bias = if (biased) 0L else BIAS
        val old = real(getAndAdd(to.toLong() - permits - bias))
        renewLimit(to)
        getAndAdd(bias)
        return old
    }

    /** Under the lock. Whoever has read `limit` before sees that it is another, even with as many permits. */
    protected fun renewLimit(permits: Int = this.permits) {
        limit = (((limit ushr 32) + 1) shl 32) or permits.toLong()
    }

    protected companion object {
        const val GUARDED_BELOW: Long = -(1L shl 61)
        private const val BIAS = 1L shl 62
    }
}
