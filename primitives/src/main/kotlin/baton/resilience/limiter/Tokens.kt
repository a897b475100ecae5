package baton.resilience.limiter

import baton.resilience.Rate

/**
 * The tokens of a `RateLimiter`: a [TokenBucket], or of several rates the [TokenBuckets].
 *
 * They have no callers and no clock, and are guarded by the lock of their [RateLimiterCore].
 */
internal abstract class Tokens {
    /** The latest reading of the clock, in nanoseconds since the limiter was made. */
    abstract val time: Long

    /** The tokens that are there, less those of reservations that have not come. */
    abstract val whole: Long

    /** Adds the tokens of the time since the latest reading. A reading before that counts as the same moment. */
    abstract fun refill(now: Long)

    /** Takes [number] tokens. */
    abstract fun take(number: Int)

    /** Puts back [number] tokens that were taken; those above the cap are lost. */
    abstract fun putBack(number: Int)

    /** Takes the tokens of a reservation; returns whether all of them have come. */
    abstract fun takeInAdvance(number: Int): Boolean

    /** Whether the time of the first reservation has come, of those that took [advance] tokens in sum. */
    abstract fun isDue(number: Int, advance: Long): Boolean

    /** That time has come. */
    abstract fun settleAdvance(number: Int)

    /** Puts back the tokens of a reservation whose time has not come. */
    abstract fun putBackAdvance(number: Int)

    /** The most tokens that can be there at once, with a cap of [newCap]. */
    abstract fun mostWith(newCap: Long): Long

    /** Changes the most tokens that the bucket holds; those above it are lost. Of several rates, that of the first. */
    abstract fun changeCap(newCap: Long)

    /** Changes the rate from [time] on. The tokens stay; a fraction of one is rounded down to the units of the rate. */
    abstract fun changeRate(rate: Rate)

    /** The time from [time] until there are [number] tokens, rounded up; `Long.MAX_VALUE` if it is more than that. */
    abstract fun nanosUntil(number: Long): Long

    /** As [nanosUntil], of as many as there can be; of each rate, if there are several. */
    abstract fun nanosUntilFull(): Long

    /** As [nanosUntil], but the moment itself. */
    fun timeOf(number: Long): Long {
        val at = time + nanosUntil(number)
        return if (at >= 0) at else Long.MAX_VALUE
    }
}
