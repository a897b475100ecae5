package baton.resilience.limiter

import baton.asClock
import baton.reportingTo
import baton.resilience.RateLimiter
import baton.resilience.per
import java.math.BigInteger
import kotlin.random.Random
import kotlin.time.AbstractLongTimeSource
import kotlin.time.Duration.Companion.days
import kotlin.time.Duration.Companion.microseconds
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlin.time.DurationUnit
import kotlin.time.TestTimeSource
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.async
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withTimeoutOrNull
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** Clocks that jump, go back or throw; and the bound on what is granted in any window. */
@OptIn(ExperimentalCoroutinesApi::class)
internal class RateLimiterClockTest {
    private class Grant(val at: Long, val permits: Int)

    /** In any window w, no more than burst + rate × w. */
    private fun assertBound(grants: List<Grant>, burst: Long, permits: Long, per: Long) {
        for (first in grants.indices) {
            var granted = BigInteger.ZERO
            for (last in first..grants.lastIndex) {
                granted += grants[last].permits.toBigInteger()
                val window = grants[last].at - grants[first].at
                val most = burst.toBigInteger() * per.toBigInteger() + permits.toBigInteger() * window.toBigInteger()
                assertTrue(granted * per.toBigInteger() <= most) { "$granted in $window ns from ${grants[first].at}" }
            }
        }
    }

    @Test
    fun manyCallers_someCancelled_exceedTheBoundInNoWindow() {
        for (seed in 1..20) {
            val random = Random(seed)
            val rate = random.nextInt(1, 50) per random.nextInt(1, 500).milliseconds
            val burst = random.nextInt(1, 20)
            val grants = mutableListOf<Grant>()
            runTest {
                val limiter = RateLimiter.tokenBucket(rate, burst.toLong())
                repeat(300) {
                    launch {
                        delay(random.nextLong(1_000))
                        val permits = random.nextInt(1, burst + 1)
                        val patience = if (random.nextInt(3) == 0) random.nextLong(1, 2_000) else Long.MAX_VALUE
                        val isGranted = withTimeoutOrNull(patience) { limiter.acquire(permits) } != null
                        if (isGranted) grants += Grant(currentTime * 1_000_000, permits)
                    }
                }
            }
            assertBound(grants, burst.toLong(), rate.permits, rate.per.inWholeNanoseconds)
            assertTrue(grants.size >= 100, "only ${grants.size} grants")
        }
    }

    @Test
    fun clock_thatJumpsBothWays_exceedsTheBoundInNoWindow() {
        var all = 0
        for (seed in 1..50) {
            val random = Random(seed)
            val clock = TestTimeSource()
            val origin = clock.markNow()
            val limiter = RateLimiter.tokenBucket(7 per 3.seconds, burst = 5, clock = clock.asClock())
            val grants = mutableListOf<Grant>()
            var latest = 0L
            repeat(2_000) {
                clock +=
                    when (random.nextInt(50)) {
                        0 -> if (origin.elapsedNow() < 36_500.days) 3_650.days else 1.seconds
                        1 -> (-3_650).days
                        in 2..10 -> -random.nextLong(1_000_000).microseconds
                        else -> random.nextLong(1_000_000).microseconds
                    }
                latest = maxOf(latest, origin.elapsedNow().inWholeNanoseconds)
                val permits = random.nextInt(1, 6)
                if (limiter.tryAcquire(permits)) grants += Grant(latest, permits)
            }
            assertBound(grants, 5, 7, 3.seconds.inWholeNanoseconds)
            all += grants.size
        }
        assertTrue(all > 500, "only $all grants")
    }

    /**
     * golang/go #71360: a reading from before the latest one set the clock back, and the same time brought tokens
     * twice.
     */
    @Test
    fun readings_outOfOrder_bringNoTokenTwice() {
        var reading = 0L
        val clock =
            object : AbstractLongTimeSource(DurationUnit.MILLISECONDS) {
                override fun read() = reading
            }
        val limiter = RateLimiter.tokenBucket(1 per 10.milliseconds, burst = 10, clock = clock.asClock())
        assertTrue(limiter.tryAcquire(10))
        var granted = 0
        repeat(100) {
            for (now in longArrayOf(50, 0, 20)) {
                reading = now
                if (limiter.tryAcquire()) granted++
            }
        }
        assertEquals(5, granted)
        reading = 60
        assertTrue(limiter.tryAcquire())
        assertFalse(limiter.tryAcquire())
    }

    @Test
    fun clock_goesBack_waiterIsServedOnceItHasPassedItsLatestReading() = runTest {
        val clock = TestTimeSource()
        val limiter = RateLimiter.tokenBucket(1 per 100.milliseconds, burst = 1, clock = clock.asClock())
        clock += 1.seconds
        assertTrue(limiter.tryAcquire())
        clock += (-1).seconds
        val waits = async { limiter.acquire().let { currentTime } }
        delay(1_000)
        assertFalse(waits.isCompleted)
        clock += 1_099.milliseconds
        delay(1_000)
        assertFalse(waits.isCompleted)
        clock += 1.milliseconds
        assertTrue(waits.await() <= 2_100)
    }

    @Test
    fun reading_ofADayAhead_fillsTheBucketAndNoMore() {
        val clock = TestTimeSource()
        val limiter = RateLimiter.tokenBucket(1 per 1.seconds, burst = 3, clock = clock.asClock())
        assertTrue(limiter.tryAcquire(3))
        clock += 1.days
        assertEquals(3, limiter.availablePermits)
        val even = RateLimiter.leakyBucket(1 per 1.seconds, clock = clock.asClock())
        clock += 1.days
        assertEquals(1, even.availablePermits)
    }

    /** Throws while [isBroken]. */
    private class BreakableClock : AbstractLongTimeSource(DurationUnit.MILLISECONDS) {
        var now = 0L
        var isBroken = false

        override fun read(): Long = if (isBroken) error("no time") else now
    }

    @Test
    fun clock_thatThrows_failsWhatTakesAndStandsStillForTheOthers() = runTest {
        val clock = BreakableClock()
        val limiter = RateLimiter.tokenBucket(1 per 100.milliseconds, burst = 3, clock = clock.asClock())
        assertTrue(limiter.tryAcquire(2))
        val large = launch(start = CoroutineStart.UNDISPATCHED) { limiter.acquire(3) }
        val small = launch(start = CoroutineStart.UNDISPATCHED) { limiter.acquire() }
        val reservation = limiter.reserve(2)
        val reported = mutableListOf<Throwable>()
        reportingTo(reported) {
            clock.isBroken = true
            assertThrows<IllegalStateException> { limiter.tryAcquire() }
            assertThrows<IllegalStateException> { limiter.acquire() }
            assertThrows<IllegalStateException> { limiter.tryAcquire(1, 1.days) }
            assertThrows<IllegalStateException> { limiter.reserve() }
            assertThrows<IllegalStateException> { limiter.update(1 per 1.seconds) }
            assertEquals(2, limiter.waiting)
            // The token that was there goes to the caller behind the one that is cancelled.
            large.cancel()
            runCurrent()
            assertTrue(small.isCompleted && !small.isCancelled)
            assertTrue(reservation.cancel())
            assertTrue("available = 0, waiting = 0" in limiter.toString())
            assertTrue(reported.isNotEmpty() && reported.all { it.message == "no time" })
            limiter.close()
        }
    }
}
