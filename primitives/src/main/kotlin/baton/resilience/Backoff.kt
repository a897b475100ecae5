package baton.resilience

import kotlin.time.Duration

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
        /** The same [delay] after each attempt. A negative one is refused. */
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
