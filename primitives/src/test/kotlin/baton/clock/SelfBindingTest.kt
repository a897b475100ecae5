package baton.clock

import baton.asClock
import baton.resilience.Backoff
import baton.resilience.CircuitBreakerConfig
import baton.resilience.CircuitBreakers
import baton.resilience.CircuitOpenException
import baton.resilience.Jitter
import baton.resilience.RateLimiter
import baton.resilience.RetryPolicy
import baton.resilience.per
import baton.resilience.retry
import java.io.IOException
import java.util.concurrent.CompletableFuture
import java.util.concurrent.TimeUnit
import kotlin.coroutines.CoroutineContext
import kotlin.time.Duration
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlin.time.TimeSource
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Delay
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.InternalCoroutinesApi
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.async
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.test.StandardTestDispatcher
import kotlinx.coroutines.test.TestCoroutineScheduler
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.UnconfinedTestDispatcher
import kotlinx.coroutines.test.advanceTimeBy
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.resetMain
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.test.setMain
import kotlinx.coroutines.withContext
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** Objects without a clock, in tests with virtual time: the right result or an error, never a wrong result. */
@OptIn(ExperimentalCoroutinesApi::class)
internal class SelfBindingTest : SelfBindingFixture() {
    private fun refused(call: () -> Unit) {
        val message = assertThrows<IllegalStateException> { call() }.message.orEmpty()
        assertTrue("clock = testScheduler.asBatonClock()" in message) { message }
    }

    // ---- the four that were wrong

    @Test
    fun retry_withMaxElapsed_countsVirtualTime() = runTest {
        var attempts = 0
        val policy =
            RetryPolicy(
                maxAttempts = 100,
                backoff = Backoff.constant(10.seconds),
                jitter = Jitter.None,
                maxElapsed = 25.seconds,
            )
        assertThrows<IOException> {
            retry(policy) {
                attempts++
                throw IOException()
            }
        }
        assertEquals(3, attempts)
        assertEquals(20_000, currentTime)
    }

    @Test fun limiter_ofOneASecond_takesFourSecondsForFive() = runTest { assertEquals(4_000, fivePermits()) }

    @Test
    fun breaker_afterItsTime_probes() = runTest {
        fail()
        assertThrows<CircuitOpenException> { breaker.protect {} }
        delay(5.seconds)
        assertEquals(1, breaker.protect { 1 })
    }

    // ---- where a caller may run

    @Test
    fun limiter_onViewsOfTheTestsDispatcher_hasVirtualTime() = runTest {
        assertEquals(4_000, fivePermits(StandardTestDispatcher(testScheduler)))
        assertEquals(5_000, fivePermits(UnconfinedTestDispatcher(testScheduler)))
        assertEquals(5_000, fivePermits(StandardTestDispatcher(testScheduler).limitedParallelism(1)))
    }

    @Test
    fun limiter_inTheBackground_hasVirtualTime() = runTest {
        val permits = backgroundScope.async { fivePermits() }
        advanceTimeBy(4_001)
        assertEquals(4_000, permits.await())
    }

    @Test
    fun limiter_onAMainDispatcherThatWasSet_hasVirtualTime() {
        Dispatchers.setMain(StandardTestDispatcher())
        try {
            runTest { assertEquals(4_000, fivePermits(Dispatchers.Main)) }
            // Of a scope that does not have the scheduler of the test among its elements.
            runTest {
                val start = currentTime
                CoroutineScope(Dispatchers.Main).launch { repeat(5) { limiter.acquire() } }.join()
                assertEquals(5_000, currentTime - start)
            }
        } finally {
            Dispatchers.resetMain()
        }
    }

    @Test
    fun limiter_onAMainDispatcherWhoseTimeIsHidden_isRefusedInATest() {
        val dispatcher = StandardTestDispatcher(TestCoroutineScheduler())
        Dispatchers.setMain(dispatcher.limitedParallelism(1))
        try {
            runTest(dispatcher) {
                withContext(Dispatchers.Main) { assertThrows<IllegalStateException> { limiter.acquire() } }
            }
        } finally {
            Dispatchers.resetMain()
        }
    }

    @Test
    fun limiter_onAnotherDispatcherAlone_hasTheSystemsTime() = runTest {
        val fast = RateLimiter.tokenBucket(1 per 20.seconds / 1_000)
        val start = System.nanoTime()
        withContext(Dispatchers.IO) { repeat(5) { fast.acquire() } }
        assertTrue(System.nanoTime() - start >= 80_000_000)
        assertEquals(0, currentTime)
    }

    @Test
    fun limiter_inVirtualAndRealTimeOfOneTest_isRefused() = runTest {
        limiter.acquire()
        refused { runCatching { runBlocking(Dispatchers.IO) { limiter.acquire() } }.getOrThrow() }
        val other = RateLimiter.tokenBucket(1 per 1.seconds)
        withContext(Dispatchers.IO) { other.acquire() }
        assertThrows<IllegalStateException> { other.acquire() }
    }

    @OptIn(InternalCoroutinesApi::class)
    private class Wrapper(private val inner: CoroutineDispatcher, delay: Delay) :
        CoroutineDispatcher(), Delay by delay {
        override fun dispatch(context: CoroutineContext, block: Runnable) = inner.dispatch(context, block)
    }

    @OptIn(InternalCoroutinesApi::class)
    @Test
    fun limiter_onADispatcherThatHidesItsTime_isRefused() = runTest {
        val inner = StandardTestDispatcher(testScheduler)
        withContext(Wrapper(inner, inner)) { assertThrows<IllegalStateException> { limiter.acquire() } }
    }

    // ---- calls without a coroutine

    @Test
    fun tryAcquire_beforeTheLimiterKnowsTheTest_isRefused_andThenRight() = runTest {
        refused { limiter.tryAcquire() }
        refused { limiter.reserve() }
        refused { limiter.tryReserve(1, 1.seconds) }
        refused { limiter.update(2 per 1.seconds) }
        assertEquals(1, limiter.availablePermits)
        limiter.acquire()
        assertFalse(limiter.tryAcquire())
        assertEquals(1.seconds, limiter.reserve().delay)
        delay(2.seconds)
        assertTrue(limiter.tryAcquire())
    }

    @Test
    fun tryAcquire_ofAnotherThread_isRefusedWhileTheTestGoesOn() {
        runTest {
            limiter.acquire()
            val call = CompletableFuture.supplyAsync { runCatching { limiter.tryAcquire() } }
            val refusal = call.get(2, TimeUnit.MINUTES).exceptionOrNull() as IllegalStateException
            val start = "RateLimiter 'api' is used in the virtual time of runTest, and now by Thread["
            val end =
                "]: make it with clock = testScheduler.asBatonClock() of baton-test. No thread can wait for that clock " +
                    "in a blocking call"
            val message = refusal.message!!
            assertTrue(message.startsWith(start) && message.endsWith(end), message)
        }
        assertFalse(limiter.tryAcquire())
    }

    @Test
    fun refusals_nameTheRemedy_andTheTwoTimes() = runTest {
        val remedy = "make it with clock = testScheduler.asBatonClock() of baton-test"
        assertEquals(
            "RateLimiter 'api' does not know the time of the test: $remedy, or, in the Kotlin API, call one of its " +
                "suspend functions first, for a limiter tryAcquire(timeout = Duration.ZERO)",
            assertThrows<IllegalStateException> { limiter.tryAcquire() }.message,
        )
        assertTrue(limiter.tryAcquire(timeout = Duration.ZERO))
        assertFalse(limiter.tryAcquire())
        val mixed =
            withContext(Dispatchers.IO) { runCatching { limiter.acquire() }.exceptionOrNull() as IllegalStateException }
        assertEquals(
            "RateLimiter 'api' was used in the virtual time of runTest, and now in BatonClock.system, in one test: " +
                remedy,
            mixed.message,
        )
        val waiter = launch { limiter.acquire() }
        runCurrent()
        val another = TestScope()
        val other = another.async { runCatching { limiter.acquire() } }
        another.runCurrent()
        assertEquals(
            "RateLimiter 'api' has callers that wait in the virtual time of runTest, and a caller in the virtual time " +
                "of another test: $remedy",
            other.getCompleted().exceptionOrNull()?.message,
        )
        waiter.cancel()
    }

    @Test
    fun reads_neverThrow() = runTest {
        assertEquals(1, limiter.availablePermits)
        limiter.usage()
        breaker.metrics
        breaker.retryIn
        breaker.usage()
        "$limiter $breaker"
    }

    @Test
    fun limiter_firstUsedInNonCancellable_isBoundToTheTest() = runTest {
        withContext(NonCancellable) { limiter.acquire() }
        limiter.acquire()
        assertFalse(limiter.tryAcquire())
        val call = CompletableFuture.supplyAsync { runCatching { limiter.tryAcquire() } }
        assertTrue(call.get(2, TimeUnit.MINUTES).exceptionOrNull() is IllegalStateException)
    }

    // ---- other dispatchers as Main

    @Test
    fun limiter_onDispatchersMainThatIsUnconfined_hasTheSystemsTime() {
        Dispatchers.setMain(Dispatchers.Unconfined)
        try {
            runTest {
                val fast = RateLimiter.tokenBucket(1 per 20.seconds / 1_000)
                val start = System.nanoTime()
                withContext(Dispatchers.Main) { repeat(5) { fast.acquire() } }
                assertTrue(System.nanoTime() - start >= 80_000_000)
            }
        } finally {
            Dispatchers.resetMain()
        }
    }

    @Test
    fun limiter_onMainImmediateAndNamedViews_hasVirtualTime() {
        Dispatchers.setMain(UnconfinedTestDispatcher())
        try {
            runTest {
                assertEquals(4_000, fivePermits(Dispatchers.Main.immediate))
                assertEquals(5_000, fivePermits(Dispatchers.Main.limitedParallelism(1)))
                assertEquals(5_000, fivePermits(Dispatchers.Main))
            }
        } finally {
            Dispatchers.resetMain()
        }
    }

    // ---- others

    @Test
    fun registry_bindsAllItsBreakers_andForgetsInVirtualTime() = runTest {
        val openFor = Backoff.constant(5.seconds)
        val config = CircuitBreakerConfig(minimumCalls = 1, openFor = openFor, jitter = Jitter.None, probes = 1)
        val breakers = CircuitBreakers<String>(config, keepIdle = 1.minutes)
        assertThrows<IOException> { breakers.protect("a") { throw IOException() } }
        assertThrows<CircuitOpenException> { breakers.protect("a") {} }
        delay(5.seconds)
        breakers.protect("a") {}
        delay(2.minutes)
        repeat(200) { breakers.protect("b") {} }
        assertEquals(1, breakers.size)
    }

    @Test
    fun objectWithAClock_isNeverBound() = runTest {
        val time = kotlin.time.TestTimeSource()
        val own = RateLimiter.tokenBucket(1 per 1.seconds, clock = time.asClock())
        assertTrue(own.tryAcquire())
        delay(1.hours)
        assertFalse(own.tryAcquire())
        time += 1.seconds
        assertTrue(own.tryAcquire())
    }

    @Test
    fun realTime_outsideOfTests_isThatOfTheSystem() = runBlocking {
        val fast = RateLimiter.tokenBucket(1 per 20.seconds / 1_000)
        val start = TimeSource.Monotonic.markNow()
        launch(Dispatchers.Default, CoroutineStart.UNDISPATCHED) { repeat(5) { fast.acquire() } }.join()
        assertTrue(start.elapsedNow() >= 80.seconds / 1_000)
    }
}
