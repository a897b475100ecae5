package baton.distributed

import baton.resilience.Rate
import org.junit.jupiter.api.Assertions.assertTrue

/** The grants of a limiter, by the clock of the store, and whether any window of time has had too many. */
class GrantLog {
    private class Grant(val millis: Long, val permits: Int)

    private val grants = ArrayList<Grant>()

    val total: Int
        get() = grants.sumOf { it.permits }

    fun add(millis: Long, permits: Int) {
        grants += Grant(millis, permits)
    }

    /**
     * In each window from one grant to another there are burst + rate × length at most. That is a bucket of a hindsight
     * that is filled by the rate, and of which the grants take: it is never below zero.
     */
    fun check(rate: Rate, burst: Long) {
        val perMilli = rate.permits.toDouble() * 1_000_000 / rate.per.inWholeNanoseconds
        var bucket = burst.toDouble()
        var last = 0L
        for (grant in grants) {
            bucket = minOf(burst.toDouble(), bucket + (grant.millis - last) * perMilli) - grant.permits
            last = grant.millis
            assertTrue(bucket > -TINY, "${-bucket} too many at ${grant.millis} ms of $rate, burst = $burst")
        }
    }

    private companion object {
        const val TINY = 1e-3
    }
}
