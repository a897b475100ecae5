package baton.resilience.limiter

import baton.PermitTimeoutException
import baton.clock
import baton.resilience.Rate
import baton.resilience.RateLimitedException
import baton.resilience.RateLimiter
import baton.resilience.RateLimiterClosedException
import baton.resilience.per
import baton.resilience.withPermit
import kotlin.coroutines.CoroutineContext
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.nanoseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.Runnable
import kotlinx.coroutines.async
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withTimeoutOrNull
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** A limiter in virtual time: exact instants. */
@OptIn(ExperimentalCoroutinesApi::class)
internal class RateLimiterTest {
    private fun TestScope.bucket(rate: Rate = 10 per 1.seconds, burst: Long = 20, maxWaiting: Int = Int.MAX_VALUE) =
        RateLimiter.tokenBucket(rate, burst, maxWaiting, clock, "api")

    private fun TestScope.leaky(rate: Rate) = RateLimiter.leakyBucket(rate, clock = clock)

    /** The instants, in milliseconds, at which callers that ask for [permits] go on. */
    private suspend fun TestScope.grants(limiter: RateLimiter, vararg permits: Int): List<Long> {
        val instants = permits.map { async { limiter.acquire(it).let { currentTime } } }
        return instants.map { it.await() }
    }

    @Test
    fun bucket_thatIsNew_isFull() = runTest {
        val limiter = bucket()
        assertEquals(20, limiter.availablePermits)
        assertEquals(List(20) { 0L } + listOf(100L, 200L), grants(limiter, *IntArray(22) { 1 }))
    }

    @Test
    fun leakyBucket_spacesItsTurnsEvenly() = runTest {
        val limiter = leaky(Rate(500, per = 1.minutes))
        assertEquals(listOf(0L, 120L, 240L, 360L), grants(limiter, 1, 1, 1, 1))
        delay(10.seconds)
        val start = currentTime
        assertEquals(listOf(0L, 120L), grants(limiter, 1, 1).map { it - start })
    }

    @Test
    fun leakyBucket_severalPermits_areSeveralTurns() = runTest {
        val limiter = leaky(10 per 1.seconds)
        assertEquals(listOf(200L, 300L), grants(limiter, 3, 1))
    }

    @Test
    fun largeRequest_atTheHead_barsThoseBehindIt() = runTest {
        val limiter = bucket(burst = 3)
        assertTrue(limiter.tryAcquire(3))
        val large = async { limiter.acquire(3).let { currentTime } }
        val small = async { limiter.acquire().let { currentTime } }
        delay(150)
        assertFalse(limiter.tryAcquire())
        assertEquals(2, limiter.waiting)
        assertEquals(listOf(300L, 400L), listOf(large.await(), small.await()))
    }

    @Test
    fun cancelledHead_takesNothing_andThoseBehindMoveUpAtOnce() = runTest {
        val limiter = bucket(burst = 3)
        assertTrue(limiter.tryAcquire(3))
        val large = launch { limiter.acquire(3) }
        val small = async { limiter.acquire().let { currentTime } }
        delay(150)
        large.cancelAndJoin()
        runCurrent()
        assertEquals(150L, small.await())
    }

    @Test
    fun grantThatComesBackLate_bringsTheTokensOfNowToThoseBehindIt() = runTest {
        val blocks = ArrayDeque<Runnable>()
        val busy =
            object : CoroutineDispatcher() {
                override fun dispatch(context: CoroutineContext, block: Runnable) {
                    blocks += block
                }
            }
        val limiter = bucket(1 per 1.seconds, burst = 10)
        assertTrue(limiter.tryAcquire(10))
        val granted = launch(busy) { limiter.acquire(5) }
        blocks.removeFirst().run()
        delay(5.seconds)
        assertEquals(0, limiter.availablePermits)
        val behind = async { limiter.acquire(10).let { currentTime } }
        delay(9.seconds)
        granted.cancel()
        while (blocks.isNotEmpty()) blocks.removeFirst().run()
        assertEquals(14_000L, behind.await())
    }

    @Test
    fun rateWithoutAWholePeriod_doesNotDrift() = runTest {
        // Of a burst of 1 the bound allows no more than 1 after a timer of whole milliseconds, which is late.
        val limiter = bucket(rate = 3 per 1.seconds, burst = 2)
        repeat(3_002) { limiter.acquire() }
        assertEquals(1_000_000L, currentTime)
    }

    @Test
    fun timedTryAcquire_waitsOnlyIfThePermitsWillBeThere() = runTest {
        val limiter = bucket(burst = 1)
        assertTrue(limiter.tryAcquire())
        assertFalse(limiter.tryAcquire(timeout = 99.milliseconds))
        assertFalse(limiter.tryAcquire(timeout = Duration.ZERO))
        assertFalse(limiter.tryAcquire(timeout = (-1).seconds))
        assertEquals(0L, currentTime)
        assertTrue(limiter.tryAcquire(timeout = 100.milliseconds))
        assertEquals(100L, currentTime)
        assertTrue(limiter.tryAcquire(timeout = Duration.INFINITE))
        assertEquals(200L, currentTime)
    }

    @Test
    fun timedOutWaiter_letsThoseBehindMoveUp() = runTest {
        val limiter = bucket(burst = 3)
        assertTrue(limiter.tryAcquire(3))
        val first = async { withTimeoutOrNull(50) { limiter.acquire(3) } }
        val second = async { limiter.acquire().let { currentTime } }
        assertEquals(null, first.await())
        assertEquals(100L, second.await())
    }

    @Test
    fun maxWaiting_reached_refusesWithTheTimeOfTheOwnTurn() = runTest {
        val limiter = bucket(burst = 1, maxWaiting = 1)
        assertTrue(limiter.tryAcquire())
        val waits = launch { limiter.acquire() }
        delay(30)
        val refused = assertThrows<RateLimitedException> { limiter.acquire() }
        assertEquals(170.milliseconds, refused.retryIn)
        assertEquals("1 callers wait already for RateLimiter 'api', retry in 170ms", refused.message)
        waits.join()
        assertEquals(100L, currentTime)
    }

    @Test
    fun reservation_standsBehindTheWaiters() = runTest {
        val limiter = bucket(burst = 3)
        assertEquals(Duration.ZERO, limiter.reserve(3).also { assertFalse(it.cancel()) }.delay)
        val waits = async { limiter.acquire(2).let { currentTime } }
        runCurrent()
        val reservation = limiter.reserve(2)
        val behind = async { limiter.acquire().let { currentTime } }
        runCurrent()
        assertEquals(400.milliseconds, reservation.delay)
        assertEquals(listOf(200L, 500L), listOf(waits.await(), behind.await()))
        assertEquals(Duration.ZERO, reservation.delay)
        assertFalse(reservation.cancel())
    }

    @Test
    fun reservation_cancelledBeforeItsTime_givesBackAllItsTokensOnce() = runTest {
        val limiter = bucket(burst = 3)
        assertTrue(limiter.tryAcquire(3))
        val first = limiter.reserve(3)
        val second = limiter.reserve(2)
        val waits = async { limiter.acquire().let { currentTime } }
        delay(100)
        assertEquals(listOf(200.milliseconds, 400.milliseconds), listOf(first.delay, second.delay))
        assertTrue(first.cancel())
        assertFalse(first.cancel())
        assertEquals(100.milliseconds, second.delay)
        assertEquals(300L, waits.await())
        assertFalse(second.cancel())
    }

    @Test
    fun update_keepsTheTokens_andSetsTheTimerOfTheHeadAnew() = runTest {
        val limiter = bucket(burst = 20)
        limiter.update(1 per 1.seconds, burst = 5)
        assertEquals(5, limiter.availablePermits)
        assertTrue(limiter.tryAcquire(5))
        val waits = async { limiter.acquire().let { currentTime } }
        delay(500)
        limiter.update(10 per 1.seconds, burst = 20)
        assertEquals(550L, waits.await())
    }

    @Test
    fun update_belowWhatAWaiterAsksFor_failsIt() = runTest {
        val limiter = bucket(burst = 3)
        assertTrue(limiter.tryAcquire(3))
        val waits = async { runCatching { limiter.acquire(3) } }
        runCurrent()
        limiter.update(10 per 1.seconds, burst = 2)
        val failure = waits.await().exceptionOrNull()
        assertEquals("permits = 3, must be at most 2, the burst of RateLimiter 'api'", failure?.message)
    }

    @Test
    fun close_failsWaitersAndNewcomers() = runTest {
        val limiter = bucket(burst = 1)
        val cause = IllegalStateException("over")
        assertTrue(limiter.tryAcquire())
        val waits = async { runCatching { limiter.acquire() } }
        runCurrent()
        limiter.close(cause)
        val failure = waits.await().exceptionOrNull() as RateLimiterClosedException
        assertSame(cause, failure.cause)
        assertThrows<RateLimiterClosedException> { limiter.acquire() }
        assertThrows<RateLimiterClosedException> { limiter.tryAcquire() }
        assertThrows<RateLimiterClosedException> { limiter.tryAcquire(timeout = 1.seconds) }
        assertThrows<RateLimiterClosedException> { limiter.reserve() }
        assertThrows<RateLimiterClosedException> { limiter.update(1 per 1.seconds) }
        assertEquals(0, limiter.waiting)
        assertEquals("RateLimiter 'api' (10 per 1s, burst = 1, available = 0, waiting = 0, closed)", limiter.toString())
    }

    @Test
    fun arguments_thatCanNeverSucceed_areRefused() = runTest {
        val limiter = bucket()
        for (permits in listOf(Int.MIN_VALUE, -1, 0)) {
            assertThrows<IllegalArgumentException> { limiter.acquire(permits) }
            assertThrows<IllegalArgumentException> { limiter.tryAcquire(permits) }
            assertThrows<IllegalArgumentException> { limiter.tryAcquire(permits, 1.seconds) }
            assertThrows<IllegalArgumentException> { limiter.reserve(permits) }
        }
        for (permits in listOf(21, Int.MAX_VALUE)) {
            val refused = assertThrows<IllegalArgumentException> { limiter.acquire(permits) }
            assertEquals("permits = $permits, must be at most 20, the burst of RateLimiter 'api'", refused.message)
            assertThrows<IllegalArgumentException> { limiter.tryAcquire(permits) }
            assertThrows<IllegalArgumentException> { limiter.tryAcquire(permits, 1.seconds) }
            assertThrows<IllegalArgumentException> { limiter.reserve(permits) }
        }
        assertEquals(20, limiter.availablePermits)
        for (burst in listOf(Long.MIN_VALUE, -1L, 0L)) {
            assertThrows<IllegalArgumentException> { bucket(burst = burst) }
            assertThrows<IllegalArgumentException> { limiter.update(1 per 1.seconds, burst) }
        }
        assertThrows<IllegalArgumentException> { bucket(maxWaiting = -1) }
        for (permits in listOf(Long.MIN_VALUE, -1L, 0L)) assertThrows<IllegalArgumentException> {
            Rate(permits, 1.seconds)
        }
        for (time in listOf(Duration.INFINITE, (-1).seconds, Duration.ZERO, Long.MAX_VALUE.milliseconds)) assertThrows<
            IllegalArgumentException
        > {
            Rate(1, time)
        }
        assertTrue(bucket(Rate(Long.MAX_VALUE, 1.nanoseconds), Long.MAX_VALUE).tryAcquire(Int.MAX_VALUE))
    }

    @Test
    fun withPermit_givesNothingBack() = runTest {
        val limiter = bucket(burst = 2)
        assertEquals("done", limiter.withPermit { "done" })
        assertThrows<IllegalStateException> { limiter.withPermit { error("failed") } }
        assertEquals(0, limiter.availablePermits)
        assertThrows<CancellationException> { limiter.withPermit { throw CancellationException() } }
        assertEquals(100L, currentTime)
    }

    @Test
    fun withPermit_withATimeout_throwsAtOnceIfThePermitCannotBeThereInTime() = runTest {
        val limiter = bucket(burst = 1)
        assertEquals("done", limiter.withPermit(Duration.ZERO) { "done" })
        for (timeout in listOf(-Duration.INFINITE, Duration.ZERO, 99.milliseconds)) {
            val late = assertThrows<PermitTimeoutException> { limiter.withPermit(timeout) { error("ran") } }
            assertEquals("no permit within $timeout from $limiter", late.message)
        }
        assertEquals(0L, currentTime)
        assertEquals(100L, limiter.withPermit(100.milliseconds) { currentTime })
    }
}
