@file:JvmSynthetic

package baton.resilience

import kotlin.math.pow
import kotlin.math.roundToLong
import kotlin.time.Duration
import kotlin.time.Duration.Companion.nanoseconds

/** Returns [time]; throws if it is negative. */
internal fun notNegative(name: String, time: Duration): Duration {
    require(!time.isNegative()) { "$name = $time, must be at least 0" }
    return time
}

private fun checkAttempt(attempt: Int) = require(attempt >= 1) { "attempt = $attempt, must be at least 1" }

internal class ConstantBackoff(private val delay: Duration) : Backoff {
    override fun delay(attempt: Int): Duration {
        checkAttempt(attempt)
        return delay
    }

    override fun toString() = "constant($delay)"
}

internal class ExponentialBackoff(private val base: Duration, private val factor: Double) : Backoff {
    override fun delay(attempt: Int): Duration {
        checkAttempt(attempt)
        if (attempt == 1 || base == Duration.ZERO) return base
        // Rounding saturates. The power is infinite at worst, and the base is not zero here, so there is no NaN.
        val grown = (base.inWholeNanoseconds * factor.pow(attempt - 1)).roundToLong().nanoseconds
        return maxOf(base, grown)
    }

    override fun toString() = "exponential($base, factor = $factor)"
}

internal class FibonacciBackoff(private val base: Duration) : Backoff {
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
