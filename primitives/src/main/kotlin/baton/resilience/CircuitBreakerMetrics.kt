package baton.resilience

/**
 * The counts of a [CircuitBreaker], all read at the same moment.
 *
 * @property calls how many calls are in the window.
 * @property failureRate the share of them that failed, within 0.0 and 1.0; 0.0 if there are none.
 * @property slowRate the share of them that succeeded slowly, as [failureRate].
 * @property rejected how many calls were refused since the breaker was made. No reset sets it back.
 */
public class CircuitBreakerMetrics
internal constructor(
    public val calls: Int,
    public val failureRate: Double,
    public val slowRate: Double,
    public val rejected: Long,
) {
    override fun toString(): String =
        "calls = $calls, failureRate = $failureRate, slowRate = $slowRate, rejected = $rejected"
}
