package baton.resilience.limiter

import baton.resilience.Rate
import java.math.BigInteger

/**
 * The tokens of a `RateLimiter` in whole numbers: [whole] tokens and [fraction] / [nanos] of another, at [time].
 *
 * With the rate in lowest terms, [permits] tokens come in [nanos] nanoseconds. So one token is worth [nanos] units, a
 * nanosecond brings [permits] of them, and no step rounds. Products of two `Long`s that need 128 bits take a slower way
 * through [BigInteger].
 *
 * Invariants: 0 ≤ fraction < nanos; whole ≤ cap, and a full bucket has no fraction; time never goes back. [whole] is
 * below zero while reservations have taken tokens that have not come yet.
 *
 * It has no callers and no clock, and is guarded by the lock of its [RateLimiterCore]. A function that throws, because
 * memory or stack is exhausted, has changed nothing: it assigns last.
 */
internal class TokenBucket(rate: Rate, private var cap: Long) {
    private var permits = 1L
    private var nanos = 1L

    /** The latest reading of the clock, in nanoseconds since the limiter was made. */
    var time = 0L
        private set

    var whole = cap
        private set

    private var fraction = 0L

    init {
        changeRate(rate)
    }

    /** Adds the tokens of the time since the latest reading. A reading before that counts as the same moment. */
    fun refill(now: Long) {
        if (now <= time) return
        if (whole < cap) addTokensOf(now - time)
        time = now
    }

    private fun addTokensOf(elapsed: Long) {
        val brought = elapsed * permits
        val units = brought + fraction
        if (Math.multiplyHigh(elapsed, permits) == 0L && brought >= 0 && units >= 0) {
            // Without a division while no token is complete.
            if (units < nanos) fraction = units else add(units / nanos, units % nanos)
        } else {
            val (tokens, rest) = (elapsed.big * permits.big + fraction.big).divideAndRemainder(nanos.big)
            if (tokens >= cap.big - whole.big) {
                fill()
            } else {
                val sum = (whole.big + tokens).toLong()
                fraction = rest.toLong()
                whole = sum
            }
        }
    }

    private fun fill() {
        whole = cap
        fraction = 0
    }

    /** Adds [tokens], up to the cap; [rest] is the new fraction. */
    private fun add(tokens: Long, rest: Long) {
        val room = cap - whole
        // A room beyond Long.MAX_VALUE, of a bucket in debt, is negative here: no number of tokens fills it.
        if (room in 0..tokens) {
            fill()
        } else {
            whole += tokens
            fraction = rest
        }
    }

    /** Takes [tokens], also those that have not come yet. */
    fun take(tokens: Int) {
        whole -= tokens
    }

    /** Puts back [tokens] that were taken; those above the cap are lost. */
    fun putBack(tokens: Int) {
        add(tokens.toLong(), fraction)
    }

    /** Changes the most tokens that the bucket holds; those above it are lost. */
    fun changeCap(cap: Long) {
        this.cap = cap
        if (whole >= cap) fill()
    }

    /** Changes the rate from [time] on. The tokens stay; a fraction of one is rounded down to the units of the rate. */
    fun changeRate(rate: Rate) {
        val newPermits = rate.permits
        val newNanos = rate.per.inWholeNanoseconds
        val divisor = gcd(newPermits, newNanos)
        val newFraction = (fraction.big * (newNanos / divisor).big / nanos.big).toLong()
        permits = newPermits / divisor
        nanos = newNanos / divisor
        fraction = newFraction
    }

    /** The time from [time] until there are [tokens], rounded up; `Long.MAX_VALUE` if it is more than that. */
    fun nanosUntil(tokens: Long): Long {
        if (whole >= tokens) return 0
        val missing = tokens - whole
        if (Math.multiplyHigh(missing, nanos) == 0L && missing * nanos >= 0) {
            val units = missing * nanos - fraction
            return (units - 1) / permits + 1
        }
        val units = missing.big * nanos.big - fraction.big
        return ((units - BigInteger.ONE) / permits.big + BigInteger.ONE).saturated
    }

    private companion object {
        val Long.big: BigInteger
            get() = BigInteger.valueOf(this)

        val BigInteger.saturated: Long
            get() = if (bitLength() < Long.SIZE_BITS) toLong() else Long.MAX_VALUE

        tailrec fun gcd(a: Long, b: Long): Long = if (b == 0L) a else gcd(b, a % b)
    }
}
