package baton.test

import baton.resilience.RateLimiter
import baton.resilience.per
import java.time.Duration
import java.time.Instant
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.delay
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class AsBatonClockTest {
    @Test
    fun clock_ofAScheduler_beginsAtItsStartAndGoesOnWithIt() = runTest {
        delay(5.seconds)
        val start = Instant.parse("2027-03-28T00:00:00Z")
        val clock = testScheduler.asBatonClock(start)
        assertEquals(Instant.parse("2000-01-01T00:00:00Z"), testScheduler.asBatonClock().instant())
        var firedAt: Instant? = null
        clock.schedule(Duration.ofSeconds(90)) { firedAt = clock.instant() }
        clock.schedule(Duration.ofSeconds(80)) { error("closed") }.close()
        val before = clock.nanoTime()
        delay(2.minutes)
        assertEquals(start.plusSeconds(90), firedAt)
        assertEquals(
            listOf(start.plusSeconds(120), 120_000_000_000),
            listOf(clock.instant(), clock.nanoTime() - before),
        )
    }

    @Test
    fun limiter_withTheClock_isAskedWithoutACoroutine() = runTest {
        val limiter = RateLimiter.tokenBucket(1 per 1.minutes, clock = testScheduler.asBatonClock())
        assertTrue(limiter.tryAcquire())
        assertFalse(limiter.tryAcquire())
        delay(1.minutes)
        assertTrue(limiter.tryAcquire())
    }
}
