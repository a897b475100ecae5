package baton.resilience

import baton.waiting.Waiter
import kotlin.time.Duration

/**
 * Permits of a [RateLimiter] that the caller will use later: a place in its line, made by [RateLimiter.reserve].
 *
 * ```
 * val reservation = limiter.reserve(3)
 * delay(reservation.delay)
 * send(three)
 * ```
 *
 * Its time comes by itself, and then the permits count as used. Its members may be called from any thread.
 */
public class RateReservation internal constructor(private val core: RateLimiterCore, permits: Int) {
    @get:JvmSynthetic internal val place = Place(core, permits)

    /** How many permits it is for. */
    public val permits: Int
        get() = place.number

    /**
     * The time from now until the permits may be used; zero once it has come. It becomes shorter when callers before it
     * give up, and changes with [RateLimiter.update]. Costs O(callers behind it).
     */
    public val delay: Duration
        get() = core.delayOf(this)

    /**
     * Gives up the place, so that those behind it move up. Returns whether it did: false if its time had come, or if it
     * was given up already.
     */
    public fun cancel(): Boolean = core.cancel(this)

    override fun toString(): String = "reservation of $permits permits of ${core.label()}, due in $delay"

    /** It only stands in the line: it has no caller to be resumed. */
    internal class Place(core: RateLimiterCore, permits: Int) : Waiter(core, permits, request = null) {
        /** Whether it has taken tokens before its time. Guarded by the lock of the core. */
        var isAdvanced = false

        override fun resume() = true

        override fun resumeFailed() = Unit
    }
}
