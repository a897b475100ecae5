package baton.resilience.limiter

import baton.asClock
import baton.clock
import baton.resilience.Rate
import baton.resilience.RateLimitedException
import baton.resilience.RateLimiter
import baton.resilience.RateLimiterClosedException
import baton.resilience.withPermit
import baton.waiting.Callers
import kotlin.random.Random
import kotlin.time.Duration
import kotlin.time.Duration.Companion.days
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.microseconds
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.nanoseconds
import kotlin.time.Duration.Companion.seconds
import kotlin.time.TestTimeSource
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNotNull
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** Limiters of several rates, and the counts and reservations of all limiters, in virtual time: exact instants. */
class SeveralRatesTest {
    private fun TestScope.limiter(vararg rates: Rate, burst: Long = rates[0].permits, maxWaiting: Int = 99) =
        RateLimiter.of(
            rates[0],
            *rates.drop(1).toTypedArray(),
            burst = burst,
            maxWaiting = maxWaiting,
            clock = clock,
            name = "api",
        )

    /** The instants, in milliseconds, at which callers that ask for [permits] go on. */
    private suspend fun TestScope.grants(limiter: RateLimiter, vararg permits: Int): List<Long> =
        permits.map { async { limiter.acquire(it).let { currentTime } } }.awaitAll()

    @Test
    fun secondsAndHours_eachKeepsItsBound() = runTest {
        val limiter = RateLimiter.of(Rate(10, 1.seconds), Rate(1_000, 1.hours), burst = 20)
        assertEquals(20, limiter.burst)
        val instants = List(1_010) { async { limiter.withPermit { currentTime } } }.awaitAll()
        assertEquals(List(20) { 0L } + (1..980L).map { it * 100 }, instants.take(1_000))
        // In the 98 seconds the hour's rate has brought 27 more, of which each takes 3.6 seconds after those.
        assertEquals((1..10L).map { 98_000 + it * 100 }, instants.drop(1_000))
        val later = List(20) { async { limiter.withPermit { currentTime } } }.awaitAll()
        assertTrue(later.first() > 99_000)
        assertEquals(listOf(100_800L, 104_400L, 108_000L), later.takeLast(3))
    }

    @Test
    fun grant_takesFromAllRatesOrFromNone() = runTest {
        val limiter = limiter(Rate(10, 1.seconds), Rate(3, 1.minutes), burst = 5)
        assertEquals(3, limiter.burst)
        assertTrue(limiter.tryAcquire(2))
        repeat(9) { assertFalse(limiter.tryAcquire(2)) }
        assertEquals(1, limiter.availablePermits)
        // The refused requests have not taken from the first rate: it has its five at once, when the second has them.
        limiter.acquire(1)
        delay(1.minutes)
        assertEquals(listOf(60_000L, 60_000L, 60_000L, 80_000L), grants(limiter, 1, 1, 1, 1))
        assertThrows<IllegalArgumentException> { limiter.tryAcquire(4) }
            .let { assertEquals("permits = 4, must be at most 3, the burst of RateLimiter 'api'", it.message) }
    }

    @Test
    fun waiter_cancelled_takesFromNoneAndThoseBehindMoveUp() = runTest {
        val limiter = limiter(Rate(10, 1.seconds), Rate(6, 1.minutes), burst = 6)
        limiter.acquire(6)
        val large = launch { limiter.acquire(6) }
        val small = async { limiter.acquire().let { currentTime } }
        delay(15_000)
        assertEquals(2, limiter.waiting)
        large.cancelAndJoin()
        runCurrent()
        assertEquals(15_000L, small.await())
        assertEquals("RateLimiter 'api' (10 per 1s and 6 per 1m, burst = 6, available = 0, waiting = 0)", "$limiter")
    }

    @Test
    fun grant_thatComesBack_returnsToEachRate() = runTest {
        val limiter = limiter(Rate(1, 1.days), Rate(2, 2.days), Rate(3, 3.days), burst = 2)
        limiter.acquire(2)
        val victim = launch { limiter.acquire(2) }
        runCurrent()
        val next = async { limiter.acquire(2).let { currentTime } }
        runCurrent()
        launch {
            delay(2.days)
            victim.cancel() // Its grant is decided at this very moment, by the timer that comes before.
        }
        assertEquals(2.days.inWholeMilliseconds, next.await())
        assertEquals(2, limiter.metrics.granted - 2)
    }

    @Test
    fun reservation_waitsForTheSlowestRate_andTakesFromTheOthersWhenItIsUsed() = runTest {
        val limiter = limiter(Rate(1, 1.seconds), Rate(10, 1.minutes), burst = 4)
        val due = List(11) { limiter.reserve().delay.inWholeMilliseconds }
        assertEquals(List(4) { 0L } + listOf(1_000, 2_000, 3_000, 4_000, 5_000, 6_000) + 7_000L, due)
        assertEquals(12.seconds, limiter.reserve().delay)
        assertFalse(limiter.tryAcquire())
        delay(7_000)
        assertFalse(limiter.tryAcquire())
        assertEquals(18.seconds - 7.seconds, limiter.reserve().delay)
    }

    /** With tokens taken in advance the second rate would have 5 again, when the reservation is used. */
    @Test
    fun reservation_thatWaitsForOneRate_leavesTheOthersNoMoreThanTheirBurst() = runTest {
        val limiter = limiter(Rate(100, 1.seconds), Rate(10, 1.seconds), burst = 100)
        limiter.update(Rate(1, 1.days), burst = 100)
        repeat(10) { limiter.acquire(10).also { delay(1.seconds) } }
        limiter.update(Rate(10, 1.seconds), burst = 100)
        val reservation = limiter.reserve(10)
        // The slow rate has brought a fraction of a permit meanwhile.
        assertTrue(1.seconds - reservation.delay < 1.milliseconds)
        limiter.update(Rate(10_000, 1.seconds), burst = 100)
        assertTrue(1.milliseconds - reservation.delay < 1.microseconds)
        delay(2)
        assertEquals(Duration.ZERO, reservation.delay)
        assertFalse(limiter.tryAcquire(1))
        delay(98)
        assertFalse(limiter.tryAcquire(1))
        delay(1)
        assertTrue(limiter.tryAcquire(1))
    }

    @Test
    fun reservations_cancelledInAnyOrder_giveBackToEachRate() = runTest {
        val limiter = limiter(Rate(2, 1.seconds), Rate(4, 4.seconds), burst = 4)
        val reservations = List(4) { limiter.reserve(2) }
        assertEquals("0 0 2000 4000", reservations.joinToString(" ") { "${it.delay.inWholeMilliseconds}" })
        val waiter = async { limiter.acquire(2).let { currentTime } }
        runCurrent()
        val behind = limiter.reserve(4)
        assertEquals(10.seconds, behind.delay)
        assertFalse(reservations[1].cancel())
        assertTrue(reservations[2].cancel())
        assertFalse(reservations[2].cancel())
        assertEquals(2.seconds, reservations[3].delay)
        assertEquals(8.seconds, behind.delay)
        assertEquals(4_000L, waiter.await())
        assertTrue(behind.cancel())
        assertEquals(8L, limiter.metrics.granted)
        delay(1.minutes)
        assertEquals(4, limiter.availablePermits)
    }

    @Test
    fun reservations_foundLate_haveLeftEachRateAtTheirTimes() = runTest {
        val limiter = limiter(Rate(1, 1.seconds), Rate(2, 4.seconds), burst = 1)
        List(6) { limiter.reserve() }
            .let { all -> assertEquals("0 1 2 4 6 8".split(" ").map { it.toInt().seconds }, all.map { it.delay }) }
        // No call comes before the last due time has passed: then only the permits since that time are there.
        delay(9_500)
        assertEquals(0, limiter.availablePermits)
        delay(1_500)
        assertTrue(limiter.tryAcquire())
        assertFalse(limiter.tryAcquire())
    }

    @Test
    fun update_changesTheFirstRate_andKeepsTheOthers() = runTest {
        val limiter = limiter(Rate(10, 1.seconds), Rate(5, 1.minutes), burst = 10)
        val large = async { limiter.acquire(5).also { limiter.acquire(5) }.let { currentTime } }
        runCurrent()
        val reservation = limiter.reserve(5)
        limiter.update(Rate(1, 1.seconds), burst = 50)
        assertEquals(5, limiter.burst)
        assertEquals(60_000L, large.await())
        val failing = async { runCatching { limiter.acquire(3) } }
        runCurrent()
        limiter.update(Rate(1, 1.seconds), burst = 2)
        val failure = failing.await().exceptionOrNull()
        assertEquals("permits = 3, must be at most 2, the burst of RateLimiter 'api'", failure?.message)
        assertEquals("1 per 1s", "${limiter.rate}")
        // It is for more than can be there now: it waits for no more than that, and those after it pay.
        assertEquals(60.seconds, reservation.delay)
        delay(60_000)
        assertEquals(Duration.ZERO, reservation.delay)
        assertEquals(12.seconds, limiter.reserve(1).delay)
        for (burst in listOf(Long.MIN_VALUE, 0L)) {
            assertThrows<IllegalArgumentException> { limiter.update(Rate(1, 1.seconds), burst) }
        }
    }

    @Test
    fun of_edges_areRefusedOrExact() = runTest {
        for (burst in listOf(Long.MIN_VALUE, -1, 0)) {
            val refusal = assertThrows<IllegalArgumentException> { limiter(Rate(1, 1.seconds), burst = burst) }
            assertEquals("burst = $burst, must be at least 1", refusal.message)
        }
        assertThrows<IllegalArgumentException> { limiter(Rate(1, 1.seconds), maxWaiting = -1) }
        val most = Rate(Long.MAX_VALUE, 1.nanoseconds)
        val huge = limiter(most, most, Rate(Long.MAX_VALUE, 100_000.days), burst = Long.MAX_VALUE)
        assertEquals(Long.MAX_VALUE, huge.burst)
        repeat(3) { assertTrue(huge.tryAcquire(Int.MAX_VALUE)) }
        assertEquals(Duration.ZERO, huge.reserve(Int.MAX_VALUE).delay)
        val slow = limiter(Rate(1, 1.nanoseconds), Rate(1, 100_000.days), burst = 1)
        assertTrue(slow.tryAcquire())
        assertEquals(100_000.days, slow.reserve().delay)
        assertTrue(slow.reserve().delay > 106_000.days) // 292 years, the most that there is
        assertTrue(slow.tryReserve(1, maxWait = 200_000.days)!!.delay > 106_000.days)
        assertNull(slow.tryReserve(1, maxWait = 106_000.days))
        assertEquals("burst = 1", "burst = ${RateLimiter.of(Rate(1, 1.days)).burst}")
    }

    @Test
    fun close_failsWaitersAndKeepsReservations() = runTest {
        val limiter = limiter(Rate(1, 1.seconds), Rate(2, 1.minutes), burst = 1)
        limiter.acquire()
        val reservation = limiter.reserve()
        val waiter = async { runCatching { limiter.acquire() } }
        runCurrent()
        limiter.close()
        assertTrue(waiter.await().exceptionOrNull() is RateLimiterClosedException)
        assertThrows<RateLimiterClosedException> { limiter.tryReserve(1, 1.days) }
        assertEquals(1.seconds, reservation.delay)
        assertTrue(reservation.cancel())
    }

    @Test
    fun tryReserve_onlyWhatIsDueInTime() = runTest {
        for (limiter in listOf(limiter(Rate(1, 1.seconds)), limiter(Rate(1, 1.seconds), Rate(60, 1.minutes)))) {
            for (never in listOf(Duration.ZERO, -Duration.INFINITE, (-1).nanoseconds)) {
                val now = limiter.tryReserve(1, never)
                assertEquals(Duration.ZERO, assertNotNull(now).let { now!!.delay })
                assertNull(limiter.tryReserve(1, never))
                delay(1.seconds)
            }
            assertTrue(limiter.tryAcquire())
            assertNull(limiter.tryReserve(maxWait = 1.seconds - 1.nanoseconds))
            val first = limiter.tryReserve(maxWait = 1.seconds)
            assertEquals(1.seconds, first?.delay)
            assertNull(limiter.tryReserve(maxWait = 1_999.milliseconds))
            val waiter = async { limiter.acquire() }
            runCurrent()
            assertNull(limiter.tryReserve(maxWait = 2_999.milliseconds))
            val behind = limiter.tryReserve(maxWait = 3.seconds)
            assertEquals(3.seconds, behind?.delay)
            assertEquals(4.seconds, limiter.tryReserve(maxWait = Duration.INFINITE)?.delay)
            assertTrue(first!!.cancel())
            assertEquals(2.seconds, behind?.delay)
            waiter.await()
            assertEquals("granted = 7, refused = 6", "${limiter.metrics}".substringBefore(", waited"))
            for (n in listOf(Int.MIN_VALUE, 0, 2, Int.MAX_VALUE)) {
                assertThrows<IllegalArgumentException> { limiter.tryReserve(n, 1.days) }
            }
        }
    }

    /** The second rate becomes full while the caller before waits for the first. */
    @Test
    fun tryReserve_ofSeveralRates_seesThatABucketOverflowsMeanwhile() = runTest {
        val limiter = limiter(Rate(1, 10.seconds), Rate(2, 4.seconds), burst = 9)
        limiter.acquire(2)
        delay(4.seconds)
        limiter.update(Rate(1, 10.seconds), burst = 2)
        limiter.acquire(2)
        val first = limiter.reserve(2)
        assertEquals(20.seconds, first.delay)
        limiter.update(Rate(1, 1.nanoseconds), burst = 2)
        assertEquals(4.seconds, first.delay)
        assertNull(limiter.tryReserve(2, 8.seconds - 1.nanoseconds))
        assertEquals(8.seconds, limiter.tryReserve(2, 8.seconds)?.delay)
    }

    @Test
    fun metrics_countWhatWasGrantedRefusedAndWaited() = runTest {
        for (limiter in
            listOf(
                limiter(Rate(1, 1.seconds), burst = 2, maxWaiting = 2),
                limiter(Rate(1, 1.seconds), Rate(2, 2.seconds), burst = 2, maxWaiting = 2),
            )) {
            fun assertMetrics(granted: Long, refused: Long, waited: Duration) {
                assertEquals("granted = $granted, refused = $refused, waited = $waited", "${limiter.metrics}")
                val totals = limiter.usage().totals
                assertEquals(mapOf("granted" to granted, "refused" to refused), totals)
            }
            assertMetrics(0, 0, Duration.ZERO)
            limiter.acquire(2)
            assertFalse(limiter.tryAcquire())
            assertFalse(limiter.tryAcquire(1, Duration.ZERO))
            assertFalse(limiter.tryAcquire(1, 999.milliseconds))
            assertMetrics(2, 3, Duration.ZERO)
            val callers = Callers(this)
            callers.call { limiter.acquire() }
            val victim = callers.call { limiter.acquire() }
            assertThrows<RateLimitedException> { limiter.acquire() }
            assertThrows<IllegalArgumentException> { limiter.tryAcquire(3) }
            assertMetrics(2, 4, Duration.ZERO)
            delay(400)
            assertMetrics(2, 4, 800.milliseconds)
            victim.cancel()
            delay(600)
            assertMetrics(3, 4, 1_400.milliseconds)
            val late = async { limiter.tryAcquire(2, 5.seconds) }
            runCurrent()
            limiter.update(Rate(1, 1.days), burst = 2)
            assertFalse(late.await())
            assertMetrics(3, 5, 6_400.milliseconds)
            val reservation = limiter.reserve()
            assertMetrics(4, 5, 6_400.milliseconds)
            assertTrue(reservation.cancel())
            assertMetrics(3, 5, 6_400.milliseconds)
            limiter.close()
            assertThrows<RateLimiterClosedException> { limiter.tryAcquire() }
            assertMetrics(3, 5, 6_400.milliseconds)
        }
    }

    @Test
    fun clock_thatJumps_bringsNoMoreThanEachRateAllows() {
        val clock = TestTimeSource()
        val limiter = RateLimiter.of(Rate(10, 1.seconds), Rate(15, 1.minutes), burst = 10, clock = clock.asClock())
        assertTrue(limiter.tryAcquire(10))
        clock += 1.seconds
        assertTrue(limiter.tryAcquire(5))
        clock += (-1).days
        assertFalse(limiter.tryAcquire())
        clock += 2.days
        assertTrue(limiter.tryAcquire(10))
        assertFalse(limiter.tryAcquire())
        assertEquals(Duration.ZERO, limiter.metrics.waited)
    }

    /** Waiters, reservations, updates and cancellations: each use counts when it may begin. */
    @Test
    fun load_ofWaitersAndReservations_keepsTheBoundOfEachRateAndIsServed() = runTest {
        repeat(50) { seed ->
            val random = Random(seed)
            val rates = List(3) { Rate(random.nextLong(2, 9), random.nextInt(1, 40).milliseconds) }
            val burst = random.nextLong(1, 9)
            val limiter = limiter(*rates.toTypedArray(), burst = burst)
            val uses = mutableListOf<Pair<Long, Int>>()
            val callers = Callers(this)
            repeat(60) {
                val n = random.nextInt(1, limiter.burst.toInt() + 1)
                when (random.nextInt(4)) {
                    0 -> if (limiter.tryAcquire(n)) uses += currentTime to n
                    1 -> {
                        val caller = callers.call { limiter.acquire(n).also { uses += currentTime to n } }
                        if (random.nextInt(4) == 0) caller.cancel()
                    }
                    2 ->
                        callers.call {
                            val reservation = limiter.reserve(n)
                            // Waiters before it are served by whole milliseconds, so its time may come later.
                            while (reservation.delay > Duration.ZERO) delay(reservation.delay)
                            uses += currentTime to n
                        }
                    else -> delay(random.nextLong(1, 60))
                }
            }
            delay(1.minutes)
            assertEquals(0, limiter.waiting, "seed $seed")
            for ((i, rate) in rates.withIndex()) {
                val cap = if (i == 0) burst else rate.permits
                for (first in uses.indices) {
                    var sum = 0L
                    for (last in first..uses.lastIndex) {
                        sum += uses[last].second
                        // A reservation is used in the millisecond after its time, because delay() rounds up.
                        val window = uses[last].first - uses[first].first + 1
                        assertTrue((sum - cap) * rate.per.inWholeMilliseconds <= rate.permits * window, "seed $seed")
                    }
                }
            }
        }
    }
}
