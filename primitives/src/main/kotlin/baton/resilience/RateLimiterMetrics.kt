@file:Suppress("NEWER_VERSION_IN_SINCE_KOTLIN")

package baton.resilience

import baton.FOR_JAVA_ALONE
import java.time.Duration as JavaDuration
import kotlin.time.Duration
import kotlin.time.toJavaDuration

/**
 * The counts of a [RateLimiter] since it was made, all read at the same moment.
 *
 * @property granted how many permits were taken. Those of a reservation count from the time at which no waiter is
 *   before it. Permits that were put back do not count.
 * @property refused how many requests did not get permits because those were not there in time: of `tryAcquire` and
 *   [RateLimiter.tryReserve], of waits that have timed out or could not end in time, and those that got a
 *   [RateLimitedException]. Requests that were cancelled, impossible, or came after the close do not count.
 * @property waited how long all callers together have waited, by the clock of the limiter: also those that still wait,
 *   and those that got nothing. Reservations do not count.
 */
public class RateLimiterMetrics
internal constructor(public val granted: Long, public val refused: Long, public val waited: Duration) {
    // Kotlin code has the property, and does not see this function: it claims to need a later version of Kotlin.

    /** [waited] for Java. */
    @SinceKotlin(FOR_JAVA_ALONE) public fun waited(): JavaDuration = waited.toJavaDuration()

    override fun toString(): String = "granted = $granted, refused = $refused, waited = $waited"
}
