package baton.resilience

/**
 * Spreads the retries of many callers, so that they do not all come at the same moment. It is applied to the back-off
 * after that is bounded by [RetryPolicy.maxDelay], and the result is bounded by it again. It never makes a wait shorter
 * than a Retry-After.
 *
 * ```
 * val spread = RetryPolicy(jitter = Jitter.Full)             // from nothing to the whole back-off
 * val nearly = RetryPolicy(jitter = Jitter.Factor(0.1))      // a tenth less to a tenth more
 * ```
 */
public sealed interface Jitter {
    /** The back-off itself. */
    public data object None : Jitter

    /** Uniform from zero to the back-off. */
    public data object Full : Jitter

    /** Uniform from half the back-off to all of it. */
    public data object Equal : Jitter

    /**
     * Uniform from `Backoff.delay(1)` to three times the wait before; before the first retry, to three times
     * `Backoff.delay(1)`. The other delays of the back-off do not count. A Retry-After does not count as a wait before.
     */
    public data object Decorrelated : Jitter

    /** Uniform within [factor] times the back-off, below it and above it. The factor is from 0.0 to 1.0. */
    public class Factor(public val factor: Double) : Jitter {
        init {
            require(factor in 0.0..1.0) { "factor = $factor, must be within 0.0..1.0" }
        }

        override fun equals(other: Any?): Boolean = other is Factor && factor.compareTo(other.factor) == 0

        override fun hashCode(): Int = factor.hashCode()

        override fun toString(): String = "Factor(factor=$factor)"
    }
}
