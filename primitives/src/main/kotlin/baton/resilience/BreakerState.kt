package baton.resilience

/** The states of a [CircuitBreaker]. */
public enum class BreakerState {
    /** All calls are let through, and counted. */
    CLOSED,

    /** All calls are refused, for a time. */
    OPEN,

    /** A few probes are let through, the other calls are refused. */
    HALF_OPEN,

    /** All calls are refused, until [CircuitBreaker.reset] or [CircuitBreaker.disable]. */
    FORCED_OPEN,

    /** All calls are let through, and counted, but never open the breaker. */
    DISABLED,
}
