package baton.resilience.limiter

import baton.PermitTimeoutException
import baton.asClock
import baton.clock
import baton.resilience.Rate
import baton.resilience.RateLimiter
import baton.resilience.RateLimiters
import baton.resilience.ResiliencePipeline
import baton.resilience.per
import baton.resilience.withPermit
import baton.retryIn
import kotlin.time.Duration
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.nanoseconds
import kotlin.time.Duration.Companion.seconds
import kotlin.time.TestTimeSource
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** The time that the exception of a timed request names: a caller that comes back then gets its permit. */
class LateRetryInTest {
    private val time = TestTimeSource()

    /** @param call a timed request for one permit, of which there are none. */
    private suspend fun expect(expected: Duration, limiter: RateLimiter, call: suspend (Duration) -> Unit) {
        val late = assertThrows<PermitTimeoutException> { call(Duration.ZERO) }
        assertEquals(expected, late.retryIn)
        assertFalse(limiter.tryAcquire())
        time += expected - 1.nanoseconds
        assertEquals(1.nanoseconds, assertThrows<PermitTimeoutException> { call(Duration.ZERO) }.retryIn)
        assertFalse(limiter.tryAcquire())
        time += 1.nanoseconds
        call(Duration.ZERO)
    }

    private fun bucket(rate: Rate, vararg others: Rate, burst: Long = rate.permits) =
        RateLimiter.of(rate, *others, burst = burst, clock = time.asClock()).apply {
            check(tryAcquire(this.burst.toInt()))
        }

    @Test
    fun retryIn_isTheTimeOfTheNextPermit_toTheNanosecond() = runTest {
        val limiter = bucket(3 per 1.seconds)
        expect(333_333_334.nanoseconds, limiter) { limiter.withPermit(it) {} }
    }

    @Test
    fun retryIn_ofAGuard_andOfThePipelineAroundIt_isThatOfTheLimiter() = runTest {
        val limiter = bucket(10 per 1.seconds)
        expect(100.milliseconds, limiter) { limiter.guarded(it) {} }
        expect(100.milliseconds, limiter) { ResiliencePipeline("api", limiter = limiter, maxWait = it).call {} }
    }

    @Test
    fun retryIn_ofALeakyBucket_isTheTimeOfTheNextTurn() = runTest {
        val limiter = RateLimiter.leakyBucket(10 per 1.seconds, clock = time.asClock())
        assertTrue(limiter.tryAcquire())
        expect(100.milliseconds, limiter) { limiter.withPermit(it) {} }
    }

    @Test
    fun retryIn_ofSeveralRates_isThatOfTheSlowestOne() = runTest {
        val limiter = bucket(10 per 1.seconds, 5 per 1.hours)
        expect(720.seconds, limiter) { limiter.withPermit(it) {} }
    }

    @Test
    fun retryIn_countsReservations_andTheCallersBeforeThisOne() = runTest {
        val limiter = bucket(10 per 1.seconds)
        limiter.reserve(2)
        val waiter = launch(start = CoroutineStart.UNDISPATCHED) { limiter.acquire(3) }
        expect(600.milliseconds, limiter) { limiter.withPermit(it) {} }
        waiter.join()
    }

    @Test
    fun retryIn_ofALimiterByKey_isThatOfTheKey() = runTest {
        val perKey = RateLimiters<String>(1 per 60.seconds, 2 per 1.hours, clock = time.asClock())
        perKey.withPermit("a") {}
        val late = assertThrows<PermitTimeoutException> { perKey.withPermit("a", 59.seconds) {} }
        assertEquals(60.seconds, late.retryIn)
        time += 60.seconds
        perKey.withPermit("a", Duration.ZERO) {}
        // The two of the hour are used up. The first minute has brought a thirtieth of another.
        val ofTheHour = assertThrows<PermitTimeoutException> { perKey.withPermit("a", Duration.ZERO) {} }
        assertEquals(1_740.seconds, ofTheHour.retryIn)
        perKey.withPermit("b", Duration.ZERO) {}
    }

    @Test
    fun retryIn_afterAWait_countsFromItsEnd() = runTest {
        val limiter = RateLimiter.of(1 per 1.seconds, 1 per 5.seconds, clock = clock)
        limiter.acquire(1)
        val first = launch(start = CoroutineStart.UNDISPATCHED) { limiter.acquire() }
        // The bound of several rates is found only by waiting, behind another caller.
        val late = assertThrows<PermitTimeoutException> { limiter.withPermit(9_999.milliseconds) {} }
        assertEquals(10_000, currentTime + checkNotNull(late.retryIn).inWholeMilliseconds)
        first.join()
    }
}
