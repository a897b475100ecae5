@file:JvmSynthetic

package baton.resilience

import kotlin.math.pow
import kotlin.math.roundToLong
import kotlin.time.Duration
import kotlin.time.Duration.Companion.nanoseconds

/**
 * The time between two attempts, before [Jitter] and [RetryPolicy.maxDelay] are applied.
 *
 * ```
 * val doubling = Backoff.exponential(200.milliseconds)
 * val growing = Backoff { attempt -> attempt.seconds }
 * ```
 *
 * A negative time of an implementation counts as zero. Those below never overflow: they grow up to 292 years, or up to
 * their base if that is longer.
 */
public fun interface Backoff {
    /** The time to wait after attempt [attempt], which counts from 1. */
    public fun delay(attempt: Int): Duration

    public companion object {
        /** The same [delay] after each attempt, which no `maxDelay` shortens. A negative one is refused. */
        public fun constant(delay: Duration): Backoff = ConstantBackoff(notNegative("delay", delay))

        /** [base] after the first attempt, and [factor] times the last delay after each other one. */
        public fun exponential(base: Duration, factor: Double = 2.0): Backoff {
            require(factor >= 1.0 && factor.isFinite()) { "factor = $factor, must be finite and at least 1.0" }
            return ExponentialBackoff(notNegative("base", base), factor)
        }

        /** 1, 1, 2, 3, 5, 8 times [base], and so on: each delay is the sum of the two before it. */
        public fun fibonacci(base: Duration): Backoff = FibonacciBackoff(notNegative("base", base))
    }
}

/** Whether the delays are all the same. */
internal val Backoff.isConstant: Boolean
    get() = this is ConstantBackoff

/** Whether this is one of Baton's back-offs, whose delays depend on the attempt alone. */
internal val Backoff.isOfBaton: Boolean
    get() = this is ConstantBackoff || this is ExponentialBackoff || this is FibonacciBackoff

/** Returns [time]; throws if it is negative. */
internal fun notNegative(name: String, time: Duration): Duration {
    require(!time.isNegative()) { "$name = $time, must be at least 0" }
    return time
}

private fun checkAttempt(attempt: Int) = require(attempt >= 1) { "attempt = $attempt, must be at least 1" }

private class ConstantBackoff(private val delay: Duration) : Backoff {
    override fun delay(attempt: Int): Duration {
        checkAttempt(attempt)
        return delay
    }

    override fun toString() = "constant($delay)"
}

private class ExponentialBackoff(private val base: Duration, private val factor: Double) : Backoff {
    override fun delay(attempt: Int): Duration {
        checkAttempt(attempt)
        if (attempt == 1 || base == Duration.ZERO) return base
        // Rounding saturates. The power is infinite at worst, and the base is not zero here, so there is no NaN.
        val grown = (base.inWholeNanoseconds * factor.pow(attempt - 1)).roundToLong().nanoseconds
        return maxOf(base, grown)
    }

    override fun toString() = "exponential($base, factor = $factor)"
}

private class FibonacciBackoff(private val base: Duration) : Backoff {
    override fun delay(attempt: Int): Duration {
        checkAttempt(attempt)
        if (attempt <= 2 || base == Duration.ZERO) return base
        var last = 0L
        var current = base.inWholeNanoseconds
        for (i in 1 until attempt) {
            val next = last + current
            // The sum is negative once it overflows.
            if (next < 0) return maxOf(base, Long.MAX_VALUE.nanoseconds)
            last = current
            current = next
        }
        return current.nanoseconds
    }

    override fun toString() = "fibonacci($base)"
}
