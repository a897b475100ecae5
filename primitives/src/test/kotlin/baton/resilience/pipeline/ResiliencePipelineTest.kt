package baton.resilience.pipeline

import baton.CallGuard
import baton.PermitTimeoutException
import baton.monitoring.CallEvent
import baton.monitoring.CallOutcome
import baton.resilience.AttemptTimeoutException
import baton.resilience.Backoff
import baton.resilience.BreakerState
import baton.resilience.CircuitBreaker
import baton.resilience.CircuitBreakerConfig
import baton.resilience.Hedge
import baton.resilience.Jitter
import baton.resilience.RateLimiter
import baton.resilience.ResiliencePipeline
import baton.resilience.RetryPolicy
import baton.resilience.per
import baton.sync.Semaphore
import java.io.IOException
import java.util.concurrent.Executors
import java.util.concurrent.TimeUnit
import kotlin.time.Duration
import kotlin.time.Duration.Companion.days
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.nanoseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.TimeoutCancellationException
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.advanceTimeBy
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withTimeout
import kotlinx.coroutines.withTimeoutOrNull
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** The times of the layers, their cancellation, and executors that reject. */
class ResiliencePipelineTest {
    private val limiter = RateLimiter.tokenBucket(1 per 1.days, burst = 10)
    private val semaphore = Semaphore(1)
    private val breaker = CircuitBreaker(CircuitBreakerConfig(minimumCalls = 4, slowCall = 1.seconds), "api")
    private val retry = RetryPolicy(maxAttempts = 2, backoff = Backoff.constant(1.seconds), jitter = Jitter.None)

    private fun pipeline(
        retry: RetryPolicy? = null,
        hedge: Hedge? = null,
        maxWait: Duration = Duration.INFINITE,
        attemptTimeout: Duration = Duration.INFINITE,
    ) = ResiliencePipeline("billing", retry, breaker, limiter, semaphore, hedge, maxWait, attemptTimeout)

    @Test
    fun lines_ofTheDocumentation_compileAndRun() = runTest {
        val upstream =
            ResiliencePipeline(
                "billing",
                retry = RetryPolicy(maxAttempts = 3),
                breaker = breaker,
                limiter = limiter,
                semaphore = semaphore,
                maxWait = 200.milliseconds,
                attemptTimeout = 2.seconds,
            )
        assertEquals("answer", upstream.call { "answer" })
        assertEquals(
            "cached",
            upstream.call(fallback = { e -> "cached".takeIf { e is IOException } }) { throw IOException() },
        )
        val hedged = ResiliencePipeline("billing", hedge = Hedge(after = 200.milliseconds, attempts = 2))
        assertEquals("answer", hedged.call { "answer" })
    }

    @Test
    fun parameters_outOfTheirBounds_areRefusedWithValueAndBound() {
        fun refused(make: () -> Any) = assertThrows<IllegalArgumentException> { make() }.message
        assertEquals("maxWait = -1ns, must be at least 0", refused { ResiliencePipeline(maxWait = (-1).nanoseconds) })
        assertEquals(
            "attemptTimeout = 0s, must be above 0",
            refused { ResiliencePipeline(attemptTimeout = Duration.ZERO) },
        )
        assertEquals(
            "retry.attemptTimeout = 1s, must be infinite: give it to the pipeline",
            refused { ResiliencePipeline(retry = RetryPolicy(attemptTimeout = 1.seconds)) },
        )
        assertEquals("after = 0s, must be above 0", refused { Hedge(Duration.ZERO) })
        assertEquals("attempts = 1, must be at least 2", refused { Hedge(1.seconds, 1) })
        ResiliencePipeline(
            maxWait = Duration.ZERO,
            attemptTimeout = 1.nanoseconds,
            hedge = Hedge(Duration.INFINITE, Int.MAX_VALUE),
        )
    }

    /** A wait for permits made a fast callee slow, and its breaker open. */
    @Test
    fun durationsOfTheBreaker_beginAfterTheWaits() = runTest {
        semaphore.acquire()
        val call = async { pipeline().call { delay(500.milliseconds) } }
        delay(5.seconds)
        semaphore.release()
        call.await()
        assertEquals(1 to 0.0, breaker.metrics.calls to breaker.metrics.slowRate)
        pipeline().call { delay(1001.milliseconds) }
        assertEquals(0.5, breaker.metrics.slowRate)
    }

    @Test
    fun maxWait_boundsEachWait_andTheBlockHasItsOwnTime() = runTest {
        semaphore.acquire()
        assertThrows<PermitTimeoutException> { pipeline(maxWait = 200.milliseconds).call {} }
        assertEquals(200, currentTime)
        launch {
            delay(199.milliseconds)
            semaphore.release()
        }
        assertEquals(
            1,
            pipeline(maxWait = 200.milliseconds, attemptTimeout = 1.seconds).call { 1.also { delay(999.milliseconds) } },
        )
        assertEquals(200L + 199 + 999, currentTime)
    }

    @Test
    fun attemptTimeout_isAFailureOfTheCallee_andRetried() = runTest {
        var runs = 0
        val value =
            pipeline(retry, attemptTimeout = 2.seconds).call {
                if (++runs == 1) awaitCancellation()
                "second"
            }
        assertEquals(Triple("second", 3000L, 2), Triple(value, currentTime, breaker.metrics.calls))
        assertEquals(0.5, breaker.metrics.failureRate)
        val e =
            assertThrows<AttemptTimeoutException> { pipeline(attemptTimeout = 2.seconds).call { awaitCancellation() } }
        assertEquals("an attempt of ResiliencePipeline 'billing' not done within 2s", e.message)
        assertEquals("late", pipeline(attemptTimeout = 2.seconds).call(fallback = { "late" }) { awaitCancellation() })
        assertEquals(1, semaphore.availablePermits)
    }

    @Test
    fun timeoutOfTheCaller_isNothing_andHasNoFallback() = runTest {
        for (hedge in listOf(null, Hedge(1.seconds))) {
            var fellBack = false
            val whole =
                withTimeoutOrNull(2500.milliseconds) {
                    pipeline(retry, hedge, attemptTimeout = 9.seconds).call(fallback = { fellBack = true }) {
                        awaitCancellation()
                    }
                }
            assertEquals(null to false, whole to fellBack)
            assertEquals(0 to 1, breaker.metrics.calls to semaphore.availablePermits)
        }
    }

    @Test
    fun timeoutOfAnother_insideTheBlock_isAFailure() = runTest {
        for (hedge in listOf(null, Hedge(1.days))) {
            breaker.reset()
            val value =
                pipeline(hedge = hedge).call(fallback = { "fallback of ${it is TimeoutCancellationException}" }) {
                    withTimeout(10) { awaitCancellation() }
                }
            assertEquals("fallback of true", value)
            assertEquals(1 to 1.0, breaker.metrics.calls to breaker.metrics.failureRate)
        }
    }

    /** A call that is cancelled at each step leaves nothing behind. */
    @Test
    fun cancellation_atEachStep_leavesNothingBehind() = runTest {
        for (hedge in listOf(null, Hedge(3.seconds), Hedge(1.seconds, 3))) for (at in 0..100) {
            val tokens = RateLimiter.tokenBucket(1 per 2.seconds, burst = 1)
            check(tokens.tryAcquireIn(this))
            val permits = Semaphore(1)
            permits.acquire()
            val guarded = CircuitBreaker(CircuitBreakerConfig(minimumCalls = 100))
            val retry = RetryPolicy(maxAttempts = 5, backoff = Backoff.constant(1.seconds), jitter = Jitter.None)
            val pipeline =
                ResiliencePipeline("x", retry, guarded, tokens, permits, hedge, attemptTimeout = 1500.milliseconds)
            var fellBack = false
            var inside = 0
            val call = launch {
                pipeline.call(fallback = { fellBack = true }) {
                    inside++
                    try {
                        delay(2.seconds)
                    } finally {
                        inside--
                    }
                    throw IOException()
                }
            }
            launch {
                delay(4.seconds)
                permits.release()
            }
            delay(at * 100L)
            val before = guarded.metrics.calls
            call.cancelAndJoin()
            assertEquals(Triple(false, 0, before), Triple(fellBack, inside, guarded.metrics.calls), "at $at, $hedge")
            assertEquals(0 to 0, tokens.waiting to permits.waiting)
            delay(5.seconds)
            assertEquals(1 to 1L, permits.availablePermits to tokens.availablePermits, "at $at, $hedge")
        }
    }

    private suspend fun RateLimiter.tryAcquireIn(scope: TestScope) = scope.run { tryAcquire(1, Duration.ZERO) }

    @Test
    fun probe_cancelledInEachLayer_givesItsPlaceBack() = runTest {
        pipeline().call {}
        breaker.openFor(1.seconds)
        delay(1.seconds)
        semaphore.acquire()
        repeat(5) {
            val probe = launch { pipeline(hedge = Hedge(1.seconds)).call {} }
            delay(10.milliseconds)
            probe.cancelAndJoin()
        }
        semaphore.release()
        assertEquals(BreakerState.HALF_OPEN, breaker.state)
        repeat(3) { pipeline().call {} }
        assertEquals(BreakerState.CLOSED, breaker.state)
    }

    @Test
    fun event_hasTheTimesOfWaitsAndAttempts() = runTest {
        val heard = ArrayList<CallEvent>()
        val pipeline = pipeline(retry)
        pipeline.onCall { heard += it }
        semaphore.acquire()
        launch {
            delay(3.seconds)
            semaphore.release()
        }
        var runs = 0
        pipeline.call {
            delay(2.seconds)
            if (++runs == 1) throw IOException()
        }
        val event = heard.single()
        assertEquals(
            listOf(CallOutcome.SUCCESS, 8.seconds, 3.seconds, 2, 1),
            event.run { listOf(outcome, duration, waited, attempts, retries) },
        )
        semaphore.acquire()
        assertThrows<PermitTimeoutException> {
            ResiliencePipeline(semaphore = semaphore, maxWait = 1.seconds)
                .also { p -> p.onCall { heard += it } }
                .call {}
        }
        assertEquals(
            listOf(CallOutcome.REFUSED, 1.seconds, 1.seconds, 0),
            heard.last().run { listOf(outcome, duration, waited, attempts) },
        )
    }

    @Test
    fun guardOfAnApplication_isALayer() = runTest {
        val seen = ArrayList<Duration>()
        val guard =
            object : CallGuard {
                override suspend fun <T> guarded(maxWait: Duration, block: suspend () -> T): T {
                    seen += maxWait
                    if (seen.size > 1) throw PermitTimeoutException("no quota")
                    return block()
                }
            }
        val pipeline = ResiliencePipeline(limiter = guard, breaker = breaker, maxWait = 7.seconds)
        assertEquals(1, pipeline.call { 1 })
        assertEquals(2, pipeline.call(fallback = { 2 }) { 1 })
        assertEquals(listOf(7.seconds, 7.seconds) to 1, seen to breaker.metrics.calls)
    }

    /** A pool that is shut down cancels the coroutine that it refuses to resume. */
    @Test
    fun executorThatRejects_leavesNothingBehind() {
        for (hedge in listOf(null, Hedge(1.milliseconds))) {
            val pool = Executors.newSingleThreadExecutor()
            val gate = CompletableDeferred<Unit>()
            val inside = CompletableDeferred<Unit>()
            runBlocking {
                val call =
                    async(pool.asCoroutineDispatcher()) {
                        pipeline(retry, hedge).call {
                            inside.complete(Unit)
                            gate.await()
                        }
                    }
                inside.await()
                pool.submit {}.get(2, TimeUnit.MINUTES) // Then the call has suspended.
                pool.shutdown()
                gate.complete(Unit)
                val e = runCatching { call.await() }.exceptionOrNull()
                assertTrue(e is CancellationException, "$e")
            }
            assertEquals(Triple(1, 0, 0), Triple(semaphore.availablePermits, semaphore.waiting, breaker.metrics.calls))
        }
    }

    @Test
    fun listenerAndPredicateThatThrow_harmNoCall() = runTest {
        val judging =
            CircuitBreaker(
                CircuitBreakerConfig(minimumCalls = 1, failureResult = { throw IllegalStateException("judge") })
            )
        val pipeline = ResiliencePipeline("x", breaker = judging)
        val e = assertThrows<IllegalStateException> { pipeline.call {} }
        assertEquals("judge" to BreakerState.OPEN, e.message to judging.state)
    }

    @Test
    fun valueOfACancelledCaller_isReturned() = runTest {
        for (hedge in listOf(null, Hedge(9.seconds))) {
            var value: Any? = null
            val call = launch {
                value =
                    pipeline(hedge = hedge, attemptTimeout = 5.seconds).call {
                        runCatching { awaitCancellation() }
                        "value"
                    }
            }
            runCurrent()
            call.cancelAndJoin()
            assertEquals("value", value, "$hedge")
        }
    }

    @Test
    fun failureOfTheBlock_isThrownItself_notACopy() = runTest {
        val failure = IOException("down")
        for (hedge in listOf(null, Hedge(9.seconds))) assertSame(
            failure,
            assertThrows<IOException> { pipeline(hedge = hedge, attemptTimeout = 5.seconds).call { throw failure } },
        )
        advanceTimeBy(1)
    }
}
