package baton.resilience

import kotlin.time.Duration

/**
 * So many permits in so much time, of a [RateLimiter]: `10 per 1.seconds`, `Rate(500, per = 1.minutes)`.
 *
 * It is a quotient, not a window: `10 per 1.seconds` and `1 per 100.milliseconds` are the same rate. Any rate is kept
 * exactly.
 *
 * @property permits at least 1.
 * @property per above 0, at most `Long.MAX_VALUE` nanoseconds (292 years).
 * @throws IllegalArgumentException if one of them is out of bounds.
 */
public class Rate(public val permits: Long, public val per: Duration) {
    init {
        require(permits >= 1) { "permits = $permits, must be at least 1" }
        require(per.isPositive()) { "per = $per, must be above 0" }
        require(per.inWholeNanoseconds < Long.MAX_VALUE) { "per = $per, must be at most 292 years" }
    }

    override fun equals(other: Any?): Boolean = other is Rate && permits == other.permits && per == other.per

    override fun hashCode(): Int = 31 * permits.hashCode() + per.hashCode()

    override fun toString(): String = "$permits per $per"
}

/** The [Rate] of so many permits in [duration]. */
public infix fun Int.per(duration: Duration): Rate = Rate(toLong(), duration)
