package baton.resilience.limiter

import baton.PermitTimeoutException
import baton.TooManyKeysException
import baton.asClock
import baton.resilience.Rate
import baton.resilience.RateLimitedException
import baton.resilience.RateLimiters
import kotlin.time.Duration
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.nanoseconds
import kotlin.time.Duration.Companion.seconds
import kotlin.time.TestTimeSource
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withContext
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

@OptIn(ExperimentalCoroutinesApi::class)
class RateLimitersTest {
    private val time = TestTimeSource()
    private val perKey = RateLimiters<Int>(Rate(10, 1.seconds), burst = 20, clock = time.asClock())

    private fun TestScope.start(block: suspend () -> Unit) = launch(start = CoroutineStart.UNDISPATCHED) { block() }

    private fun RateLimiters<Int>.takeAll(key: Int): Int {
        var taken = 0
        while (tryAcquire(key)) taken++
        return taken
    }

    @Test
    fun withPermit_limitsEachKeyByItself() = runTest {
        val perCustomer = RateLimiters<String>(Rate(10, 1.seconds), burst = 20)
        val sent = mutableListOf<String>()
        repeat(25) { perCustomer.withPermit("a") { sent += it } }
        assertEquals(500, currentTime)
        repeat(20) { perCustomer.withPermit("b") { sent += it } }
        assertEquals(500, currentTime)
        assertEquals(List(25) { "a" } + List(20) { "b" }, sent)
    }

    @Test
    fun bucket_thatIsNotFull_isKept_andThatOfNoMoreUse_isForgotten() {
        assertTrue(perKey.tryAcquire(1, 20))
        time += 2.seconds - 1.nanoseconds
        perKey.takeAll(2)
        assertEquals(2, perKey.size)
        assertFalse(perKey.tryAcquire(1, 20))
        time += 1.nanoseconds
        perKey.takeAll(3)
        assertEquals(2, perKey.size, "2 and 3: 1 was full")
        assertTrue(perKey.tryAcquire(1, 20))
    }

    /** A sweep at the end of a call, on the way, and by new keys: no caller gets more than burst + rate × time. */
    @Test
    fun permits_ofAKeyThatComesAndGoes_areNeverMoreThanTheBound() {
        val random = kotlin.random.Random(54)
        val taken = IntArray(5)
        var elapsed = Duration.ZERO
        repeat(20_000) {
            val step = random.nextInt(30).milliseconds
            time += step
            elapsed += step
            val key = random.nextInt(5)
            val permits = 1 + random.nextInt(if (random.nextInt(100) == 0) 20 else 2)
            if (perKey.tryAcquire(key, permits)) taken[key] += permits
            repeat(random.nextInt(3)) { perKey.tryAcquire(1_000 + random.nextInt(1_000)) }
        }
        for (sum in taken) assertTrue(sum <= 20 + elapsed.inWholeMilliseconds / 100) { "$sum in $elapsed" }
        assertTrue(perKey.size < 1_000) { "$perKey" }
    }

    @Test
    fun fullTable_refusesANewKey_andNeverForgetsABucketThatIsNotFull() {
        val few = RateLimiters<Int>(Rate(1, 1.hours), burst = 3, maxKeys = 2, clock = time.asClock())
        assertEquals(listOf(3, 3), listOf(few.takeAll(1), few.takeAll(2)))
        repeat(100) { assertThrows<TooManyKeysException> { few.tryAcquire(3 + it) } }
        assertEquals(listOf(0, 0), listOf(few.takeAll(1), few.takeAll(2)))
        time += 3.hours - 1.nanoseconds
        assertThrows<TooManyKeysException> { few.tryAcquire(3) }
        time += 1.nanoseconds
        assertEquals(3, few.takeAll(3))
        assertEquals(3, few.takeAll(4))
        assertThrows<TooManyKeysException> { few.tryAcquire(5) }
    }

    /** The first rate is back after a second, the second one after an hour. */
    @Test
    fun severalRates_eachBoundsAKey_andItIsKeptUntilAllAreFull() {
        val rates = arrayOf(Rate(2, 1.hours), Rate(9, 2.hours))
        val few = RateLimiters<Int>(Rate(10, 1.seconds), *rates, burst = 5, maxKeys = 1, clock = time.asClock())
        assertEquals(2, few.burst)
        assertEquals("RateLimiters (10 per 1s and 2 per 1h and 9 per 2h, burst = 2, size = 0, maxKeys = 1)", "$few")
        assertEquals(2, few.takeAll(1))
        time += 1.hours - 1.nanoseconds
        assertThrows<TooManyKeysException> { few.tryAcquire(2) }
        assertEquals(1, few.takeAll(1))
        time += 1.hours
        assertEquals(2, few.takeAll(2))
        assertThrows<IllegalArgumentException> { few.tryAcquire(2, 3) }
    }

    @Test
    fun refusedRequest_ofANewKey_takesNothingForLong() {
        val few = RateLimiters<Int>(Rate(1, 1.hours), burst = 3, maxKeys = 1, clock = time.asClock())
        for ((bad, bound) in listOf(0 to "at least 1", 4 to "at most 3, the burst of RateLimiter '1'")) {
            val message = assertThrows<IllegalArgumentException> { few.tryAcquire(1, bad) }.message
            assertEquals("permits = $bad, must be $bound", message)
        }
        assertTrue(few.tryAcquire(2), "the bucket of 1 is full, so it makes room")
    }

    @Test
    fun waiters_ofAKey_areFirstComeFirstServed_andTheirCancellationTakesNothing() = runTest {
        val own = RateLimiters<Int>(Rate(1, 1.seconds), burst = 1)
        val order = mutableListOf<String>()
        start { own.withPermit(1) { order += "first $currentTime" } }
        val cancelled = start { own.withPermit(1) { order += "cancelled" } }
        start { own.withPermit(1) { order += "second $currentTime" } }
        delay(500)
        cancelled.cancelAndJoin()
        delay(10_000)
        assertEquals(listOf("first 0", "second 1000"), order)
    }

    @Test
    fun timedCalls_endAtOnceIfThePermitsCannotBeThereInTime() = runTest {
        val own = RateLimiters<Int>(Rate(1, 1.seconds), burst = 1, name = "own")
        assertEquals(1, own.withPermit(1, Duration.ZERO) { it })
        assertFalse(own.tryAcquire(1, timeout = 999.milliseconds))
        val late = assertThrows<PermitTimeoutException> { own.withPermit(1, 999.milliseconds) { error("ran") } }
        assertTrue(late.message!!.startsWith("no permit within 999ms from RateLimiter 'own[1]' (")) { late.message!! }
        assertEquals(0, currentTime)
        assertEquals(2, own.withPermit(1, 1.seconds) { 2 })
        assertEquals(1_000, currentTime)
        assertTrue(own.tryAcquire(1, timeout = 1.seconds))
        assertEquals(2_000, currentTime)
    }

    @Test
    fun maxWaiting_boundsTheWaitersOfOneKey() = runTest {
        val own = RateLimiters<Int>(Rate(1, 1.seconds), burst = 1, maxWaiting = 0)
        own.acquire(1)
        assertEquals(1.seconds, assertThrows<RateLimitedException> { own.acquire(1) }.retryIn)
        own.acquire(2)
    }

    @Test
    fun bucketsOfATest_areFilledByItsTime_andNotByThatOfAnother() = runTest {
        val own = RateLimiters<Int>(Rate(1, 1.seconds), burst = 1)
        own.acquire(1)
        own.acquire(2)
        delay(1_000)
        assertTrue(own.tryAcquire(1))
        assertTrue(own.tryAcquire(2))
        start { own.acquire(1) }
        assertThrows<IllegalStateException> { withContext(Dispatchers.Default) { own.acquire(2) } }
    }

    @Test
    fun arguments_outOfBounds_areRefused() {
        val rate = Rate(10, 1.seconds)
        val bad =
            listOf<Pair<String, () -> Unit>>(
                "burst = 0, must be at least 1" to { RateLimiters<Int>(rate, burst = 0) },
                "burst = ${Long.MIN_VALUE}, must be at least 1" to { RateLimiters<Int>(rate, burst = Long.MIN_VALUE) },
                "maxKeys = 0, must be at least 1" to { RateLimiters<Int>(rate, maxKeys = 0) },
                "maxWaiting = -1, must be at least 0" to { RateLimiters<Int>(rate, maxWaiting = -1) },
            )
        for ((message, create) in bad) assertEquals(
            message,
            assertThrows<IllegalArgumentException> { create() }.message,
        )
        assertEquals(
            "RateLimiters (10 per 1s, burst = 10, size = 0, maxKeys = 100000)",
            RateLimiters<Int>(rate).toString(),
        )
    }
}
