package baton.clock

import baton.resilience.CircuitOpenException
import baton.resilience.RateLimiter
import baton.resilience.per
import baton.waiting.ThreadWaiter
import java.util.concurrent.CompletableFuture
import java.util.concurrent.TimeUnit
import kotlin.concurrent.thread
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlin.time.TimeSource
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.test.StandardTestDispatcher
import kotlinx.coroutines.test.TestCoroutineScheduler
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withContext
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** One object without a clock before, in, between and after several tests with virtual time. */
@OptIn(ExperimentalCoroutinesApi::class)
internal class SelfBindingAcrossTestsTest : SelfBindingFixture() {
    @Test
    fun limiter_inASecondTest_goesOnAsIfNoTimeHadPassed() {
        runTest {
            delay(1.hours)
            assertEquals(4_000, fivePermits())
            delay(0.5.seconds)
        }
        runTest { assertEquals(4_500, fivePermits()) }
        runTest(StandardTestDispatcher(TestCoroutineScheduler())) { assertEquals(5_000, fivePermits()) }
        assertFalse(limiter.tryAcquire())
    }

    @Test
    fun breaker_inASecondTest_isOpenForTheRestOfItsTime() {
        runTest {
            fail()
            delay(3.seconds)
        }
        runTest {
            assertThrows<CircuitOpenException> { breaker.protect {} }
            delay(2.seconds)
            breaker.protect {}
        }
    }

    @Test
    fun limiter_thatIsAwaitedInOneTest_isRefusedInAnother() {
        val first = TestScope()
        first.launch { repeat(2) { limiter.acquire() } }
        first.runCurrent()
        assertEquals(1, limiter.waiting)
        runTest { assertThrows<IllegalStateException> { limiter.acquire() } }
        first.testScheduler.advanceUntilIdle()
        runTest { assertEquals(5_000, fivePermits()) }
    }

    @Test
    fun limiter_madeAndUsedBefore_countsFromThere() {
        assertTrue(limiter.tryAcquire())
        runTest { assertTrue(fivePermits() in 4_000L..5_000L) }
    }

    @Test
    fun limiter_thatAThreadAwaits_isRefusedInATest() {
        val slow = RateLimiter.tokenBucket(1 per 1.hours)
        assertTrue(slow.tryAcquire())
        val waiter = thread(isDaemon = true) { runCatching { ThreadWaiter(slow.core, 1, null, slow).await() } }
        while (slow.waiting == 0) Thread.onSpinWait()
        runTest { assertThrows<IllegalStateException> { slow.acquire() } }
        waiter.interrupt()
        waiter.join(120_000)
        assertEquals(0, slow.waiting)
    }

    @Test
    fun limiter_usedInRealTimeBefore_isRefusedInTwoTimesOfOneTest() {
        val many = RateLimiter.tokenBucket(10 per 1.seconds)
        runBlocking { many.acquire() }
        runTest {
            withContext(Dispatchers.IO) { many.acquire() }
            assertThrows<IllegalStateException> { many.acquire() }
        }
        runTest { many.acquire() }
    }

    @Test
    fun limiter_ofATestThatHasEnded_hasTheTimeOfTheThreadsThatFollow() {
        val fast = RateLimiter.tokenBucket(1 per 20.seconds / 1_000)
        runTest { fast.acquire() }
        val start = TimeSource.Monotonic.markNow()
        while (!fast.tryAcquire()) assertTrue(start.elapsedNow() < 2.minutes)
    }

    @Test
    fun breaker_ofATestThatHasEnded_isAwaitedByThreadsInRealTime() {
        runTest {
            fail()
            breaker.trip()
        }
        val timeout = CompletableFuture<Unit>()
        breaker.core.schedule(1) { timeout.complete(Unit) }
        timeout.get(2, TimeUnit.MINUTES)
        breaker.core.requireRealTime()
    }
}
