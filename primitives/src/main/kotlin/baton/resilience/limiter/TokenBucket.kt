package baton.resilience.limiter

import baton.resilience.Rate
import java.math.BigInteger

/**
 * The tokens of one rate in whole numbers: [whole] tokens and [fraction] / [nanos] of another, at [time].
 *
 * With the rate in lowest terms, [permits] tokens come in [nanos] nanoseconds. So one token is worth [nanos] units, a
 * nanosecond brings [permits] of them, and no step rounds. Products of two `Long`s that need 128 bits take a slower way
 * through [BigInteger].
 *
 * Invariants: 0 ≤ fraction < nanos; whole ≤ cap, and a full bucket has no fraction; time never goes back. [whole] is
 * below zero while reservations have taken tokens that have not come yet.
 *
 * A function that throws, because memory or stack is exhausted, has changed nothing: it assigns last.
 */
internal class TokenBucket
private constructor(
    private var cap: Long,
    private var permits: Long,
    private var nanos: Long,
    time: Long,
    private var tokens: Long,
    private var fraction: Long,
) : Tokens() {
    /** A full bucket. */
    constructor(rate: Rate, cap: Long) : this(cap, permits = 1, nanos = 1, time = 0, tokens = cap, fraction = 0) {
        changeRate(rate)
    }

    override var time = time
        private set

    override val whole: Long
        get() = tokens

    override fun refill(now: Long) {
        if (now <= time) return
        if (tokens < cap) addTokensOf(now - time)
        time = now
    }

    private fun addTokensOf(elapsed: Long) {
        val brought = elapsed * permits
        val units = brought + fraction
        if (Math.multiplyHigh(elapsed, permits) == 0L && brought >= 0 && units >= 0) {
            // Without a division while no token is complete.
            if (units < nanos) fraction = units else add(units / nanos, units % nanos)
        } else {
            val (added, rest) = (elapsed.big * permits.big + fraction.big).divideAndRemainder(nanos.big)
            if (added >= cap.big - tokens.big) {
                fill()
            } else {
                val sum = (tokens.big + added).toLong()
                fraction = rest.toLong()
                tokens = sum
            }
        }
    }

    private fun fill() {
        tokens = cap
        fraction = 0
    }

    /** Adds [more] tokens, up to the cap; [rest] is the new fraction. */
    private fun add(more: Long, rest: Long) {
        val room = cap - tokens
        // A room beyond Long.MAX_VALUE, of a bucket in debt, is negative here: no number of tokens fills it.
        if (room in 0..more) {
            fill()
        } else {
            tokens += more
            fraction = rest
        }
    }

    /** Also those that have not come yet. */
    override fun take(number: Int) {
        tokens -= number
    }

    override fun putBack(number: Int) {
        add(number.toLong(), fraction)
    }

    override fun takeInAdvance(number: Int): Boolean {
        take(number)
        return tokens >= 0
    }

    override fun isDue(number: Int, advance: Long): Boolean = tokens + advance - number >= 0

    override fun settleAdvance(number: Int) {}

    override fun putBackAdvance(number: Int) {
        putBack(number)
    }

    override fun mostWith(newCap: Long): Long = newCap

    override fun changeCap(newCap: Long) {
        cap = newCap
        if (tokens >= newCap) fill()
    }

    override fun changeRate(rate: Rate) {
        val newPermits = rate.permits
        val newNanos = rate.per.inWholeNanoseconds
        val divisor = gcd(newPermits, newNanos)
        val newFraction = (fraction.big * (newNanos / divisor).big / nanos.big).toLong()
        permits = newPermits / divisor
        nanos = newNanos / divisor
        fraction = newFraction
    }

    override fun nanosUntil(number: Long): Long {
        if (tokens >= number) return 0
        val missing = number - tokens
        if (Math.multiplyHigh(missing, nanos) == 0L && missing * nanos >= 0) {
            val units = missing * nanos - fraction
            return (units - 1) / permits + 1
        }
        val units = missing.big * nanos.big - fraction.big
        return ((units - BigInteger.ONE) / permits.big + BigInteger.ONE).saturated
    }

    override fun nanosUntilFull(): Long = nanosUntil(cap)

    /** The moment at which there are [number] tokens, or as many as there can be. */
    fun timeOfNext(number: Int): Long = timeOf(minOf(number.toLong(), cap))

    fun copy() = TokenBucket(cap, permits, nanos, time, tokens, fraction)

    private companion object {
        val Long.big: BigInteger
            get() = BigInteger.valueOf(this)

        val BigInteger.saturated: Long
            get() = if (bitLength() < Long.SIZE_BITS) toLong() else Long.MAX_VALUE

        tailrec fun gcd(a: Long, b: Long): Long = if (b == 0L) a else gcd(b, a % b)
    }
}
