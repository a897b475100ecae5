@file:Suppress("NEWER_VERSION_IN_SINCE_KOTLIN")

package baton.resilience

import baton.FOR_JAVA_ALONE
import baton.resilience.limiter.RateLimiterCore
import baton.resilience.limiter.ReservedPlace
import java.time.Duration as JavaDuration
import kotlin.time.Duration
import kotlin.time.toJavaDuration

/**
 * Permits of a [RateLimiter] that the caller will use later: a place in its queue, made by [RateLimiter.reserve].
 *
 * ```
 * val reservation = limiter.reserve(3)
 * delay(reservation.delay)
 * send(three)
 * ```
 *
 * Once its time has come the permits count as used, whether the caller uses them or not. Its members may be called from
 * any thread.
 */
public class RateReservation internal constructor(private val core: RateLimiterCore, permits: Int) {
    @get:JvmSynthetic internal val place = ReservedPlace(core, permits)

    /** How many permits it is for. */
    public val permits: Int
        get() = place.number

    /**
     * The time from now until the permits may be used; zero once that has come. It becomes shorter when callers before
     * it give up, and changes with [RateLimiter.update]. With several rates it becomes longer by the time by which a
     * waiter before it is served late, as a timer of whole milliseconds does. Costs O(callers behind it), with several
     * rates O(callers before it).
     */
    public val delay: Duration
        get() = core.delayOf(place)

    // Kotlin code has the property, and does not see this function: it claims to need a later version of Kotlin.

    /** [delay] for Java. */
    @SinceKotlin(FOR_JAVA_ALONE) public fun delay(): JavaDuration = delay.toJavaDuration()

    /**
     * Gives up the place, so that the callers behind it move up. Returns false if its time had come, or if it was given
     * up before.
     */
    public fun cancel(): Boolean = core.cancel(place)

    override fun toString(): String = "reservation of $permits permits of ${core.label()}, due in $delay"
}
