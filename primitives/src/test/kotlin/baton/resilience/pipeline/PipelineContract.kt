package baton.resilience.pipeline

import baton.PermitTimeoutException
import baton.Refusal
import baton.monitoring.CallEvent
import baton.monitoring.CallOutcome
import baton.resilience.Backoff
import baton.resilience.BreakerState
import baton.resilience.CircuitBreaker
import baton.resilience.CircuitBreakerConfig
import baton.resilience.CircuitOpenException
import baton.resilience.Hedge
import baton.resilience.Jitter
import baton.resilience.RateLimiter
import baton.resilience.ResiliencePipeline
import baton.resilience.ResultNotAcceptedException
import baton.resilience.RetryBudget
import baton.resilience.RetryPolicy
import baton.resilience.per
import baton.sync.Semaphore
import baton.sync.SemaphoreClosedException
import java.io.IOException
import java.util.concurrent.CancellationException
import java.util.concurrent.CopyOnWriteArrayList
import kotlin.time.Duration
import kotlin.time.Duration.Companion.days
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ValueSource

/** The order of the layers and the outcomes of the calls, through any API. Waits are zero here, or refused. */
abstract class PipelineContract(private val face: PipelineFace) {
    private val breaker =
        CircuitBreaker(CircuitBreakerConfig(minimumCalls = 4, openFor = Backoff.constant(1.hours)), "api")
    private val limiter = RateLimiter.tokenBucket(1 per 1.days, burst = 10)
    private val semaphore = Semaphore(2)
    private val retry = RetryPolicy(maxAttempts = 3, backoff = Backoff.constant(Duration.ZERO), jitter = Jitter.None)
    private var runs = 0

    private fun full(
        retry: RetryPolicy? = this.retry,
        breaker: CircuitBreaker? = this.breaker,
        maxWait: Duration = Duration.ZERO,
    ) = ResiliencePipeline("billing", retry, breaker, limiter, semaphore, maxWait = maxWait)

    private fun <T> ResiliencePipeline.run(fallback: ((Throwable) -> T)? = null, block: (Int) -> T): T =
        face.call(this, fallback) { block(++runs) }

    private inline fun <reified E : Throwable> ResiliencePipeline.fails(noinline block: (Int) -> Any?): E =
        assertThrows<E> { run(null, block) }

    /** The rest: tokens of the limiter, permits of the semaphore, calls counted by the breaker. */
    private fun left() = Triple(limiter.availablePermits, semaphore.availablePermits, breaker.metrics.calls)

    @Test
    fun value_isTheResult_throughAllLayersAndWithoutAny() {
        assertEquals("body", full().run { "body" })
        assertEquals(Triple(9L, 2, 1), left())
        assertEquals(null, full().run<String?> { null })
        assertEquals("bare", ResiliencePipeline().run { "bare" })
        assertEquals("bare", ResiliencePipeline(attemptTimeout = 1.hours).run { "bare" })
        assertEquals("down", ResiliencePipeline().fails<IOException> { throw IOException("down") }.message)
    }

    @Test
    fun eachLayerAlone_runsTheBlockOnce() {
        val parts =
            listOf(
                ResiliencePipeline(retry = retry),
                ResiliencePipeline(breaker = breaker),
                ResiliencePipeline(limiter = limiter),
                ResiliencePipeline(semaphore = semaphore),
                ResiliencePipeline(hedge = Hedge(1.hours)),
                ResiliencePipeline(attemptTimeout = 1.hours),
            )
        for (part in parts) assertEquals("x", part.run { "x" }, "$part")
        assertEquals(parts.size, runs)
        for (part in parts.drop(1)) assertSame(FAILURE, part.fails<IOException> { throw FAILURE }, "$part")
        assertEquals(2 to 2, semaphore.availablePermits to breaker.metrics.calls)
    }

    @Test
    fun eachAttempt_goesThroughTheBreakerAndTakesATokenOfItsOwn() {
        val e = full().fails<IOException> { throw IOException("$it") }
        assertEquals("3" to listOf("1", "2"), e.message to e.suppressed.map { it.message })
        assertEquals(Triple(7L, 2, 3), left())
        assertEquals(1.0, breaker.metrics.failureRate)
    }

    @Test
    fun openBreaker_takesNothing_andIsNotRetried() {
        breaker.trip()
        full().fails<CircuitOpenException> { "no" }
        assertEquals(Triple(10L, 2, 0) to 0, left() to runs)
        full(retry.copy(retryIf = { it is Refusal })).fails<CircuitOpenException> { "no" }
        assertEquals(Triple(10L, 2, 0) to 0, left() to runs)
    }

    /** The reason for the order: a full semaphore of a healthy upstream opened its breaker. */
    @Test
    fun fullSemaphore_countsAsNothing_andIsNotRetried() {
        check(semaphore.tryAcquire(2))
        repeat(5) {
            val e = full().fails<PermitTimeoutException> { "no" }
            assertTrue(e.message!!.startsWith("no permit within 0s from Semaphore"), e.message)
        }
        assertEquals(Triple(5L, 0, 0) to 0, left() to runs)
        assertEquals(BreakerState.CLOSED, breaker.state)
        semaphore.release(2)
        semaphore.close()
        full().fails<SemaphoreClosedException> { "no" }
        assertEquals(0 to 0, breaker.metrics.calls to runs)
    }

    @Test
    fun emptyLimiter_refusesBeforeTheSemaphore() {
        check(limiter.tryAcquire(10))
        repeat(5) { full(maxWait = 1.milliseconds).fails<PermitTimeoutException> { "no" } }
        assertEquals(Triple(0L, 2, 0) to 0, left() to runs)
        limiter.close()
        assertThrows<IllegalStateException> { full().run {} }
        assertEquals(0, breaker.metrics.calls)
    }

    @Test
    fun refusalThatRetryIfAccepts_isRepeated() {
        check(semaphore.tryAcquire(2))
        val asked = CopyOnWriteArrayList<Throwable>()
        full(retry.copy(retryIf = { asked.add(it) })).fails<PermitTimeoutException> { "no" }
        assertEquals(listOf(true, true), asked.map { it is PermitTimeoutException })
        assertEquals(Triple(7L, 0, 0) to 0, left() to runs)
    }

    @Test
    fun refusalOfANestedPipeline_isNothingForTheOuterOne() {
        val inner =
            ResiliencePipeline(
                "inner",
                semaphore = Semaphore(1).also { check(it.tryAcquire()) },
                maxWait = 1.milliseconds,
            )
        full().fails<PermitTimeoutException> { face.call(inner, null) { "no" } }
        assertEquals(Triple(9L, 2, 0) to 1, left() to runs)
    }

    @ParameterizedTest
    @ValueSource(strings = ["error", "cancellation"])
    fun errorAndCancellation_inTheBlock_endTheCallAndCountAsNothing(what: String) {
        val thrown = if (what == "error") LinkageError() else CancellationException("of another")
        val e = full().let { assertThrows<Throwable> { it.run<Any>({ "fallback" }) { throw thrown } } }
        assertEquals(thrown.javaClass.simpleName to 1, e.javaClass.simpleName.removePrefix("Untraced") to runs)
        assertEquals(Triple(9L, 2, 0), left())
    }

    @Test
    fun timeLimitInTheBlock_isAFailure_andAnInterruptIsNot() {
        val late = runBlocking { runCatching { withTimeout(1) { awaitCancellation() } }.exceptionOrNull()!! }
        assertEquals("fallback", full(breaker = null).run<Any>({ "fallback" }) { throw late })
        val hedged = ResiliencePipeline(hedge = Hedge(1.hours))
        assertEquals("fallback", hedged.run<Any>({ "fallback" }) { throw late })
        assertEquals(4, runs)
        assertThrows<InterruptedException> { full().run<Any>({ "fallback" }) { throw InterruptedException() } }
        assertEquals(5, runs)
    }

    @Test
    fun fallback_makesTheValueOfAFailedAndOfARefusedCall() {
        var cause: Throwable? = null
        val value = full().run({ "stale".also { _ -> cause = it } }) { throw IOException("$it") }
        assertEquals("stale" to "3", value to cause?.message)
        breaker.trip()
        assertEquals("open", full().run({ if (it is CircuitOpenException) "open" else "?" }) { "no" })
        breaker.reset()
        assertEquals("fresh", full().run({ "stale" }) { "fresh" })
        assertEquals(2, semaphore.availablePermits)
    }

    @Test
    fun fallback_thatThrows_throwsThatWithTheFailureSuppressed() {
        for (thrown in listOf(IllegalStateException("no cache"), AssertionError("no cache"))) {
            val e =
                assertThrows<Throwable> { full(retry = null).run<Any>({ throw thrown }) { throw IOException("down") } }
            assertSame(thrown, e)
            assertEquals(listOf("down"), e.suppressed.map { it.message })
        }
        val same = IOException("same")
        assertSame(same, assertThrows<IOException> { full(null).run<Any>({ throw it }) { throw same } })
    }

    @Test
    fun failureResult_isRetriedAndCounted_andTheLastOneReturned() {
        val judging =
            CircuitBreaker(CircuitBreakerConfig(minimumCalls = 100, failureResult = { it is Int && it >= 500 }))
        fun judged(retry: RetryPolicy? = this.retry) =
            ResiliencePipeline(retry = retry, breaker = judging, semaphore = semaphore)
        assertEquals(503, judged().run { 503 })
        assertEquals(3 to 1.0, judging.metrics.calls to judging.metrics.failureRate)
        judging.reset()
        runs = 0
        assertEquals(200, judged().run { if (it < 3) 503 else 200 })
        runs = 0
        val strict = judged(retry.copy(failAfterLast = true, maxAttempts = 2))
        assertEquals(503, strict.fails<ResultNotAcceptedException> { 503 }.result)
        judging.reset()
        assertEquals(0, strict.run({ 0 }) { 503 }, "the fallback of the exception")
        assertEquals(503, judged(retry = null).run { 503 })
    }

    @Test
    fun failureResultOfTheLastAttempt_isAFailureForTheListener_whateverIsFailureSays() {
        val config = CircuitBreakerConfig(isFailure = { it is IOException }, failureResult = { it == 503 })
        val strict = ResiliencePipeline(retry = retry.copy(failAfterLast = true), breaker = CircuitBreaker(config))
        val heard = CopyOnWriteArrayList<CallEvent>()
        strict.onCall { heard += it }
        strict.fails<ResultNotAcceptedException> { 503 }
        assertEquals(CallOutcome.FAILURE to 2, heard.single().run { outcome to retries })
    }

    @Test
    fun budgetAndListenerOfThePolicy_workInThePipeline() {
        val budget = RetryBudget(0.0, 1)
        val numbers = CopyOnWriteArrayList<Int>()
        full(retry.copy(budget = budget, onRetry = { numbers += it.number })).fails<IOException> { throw IOException() }
        assertEquals(2 to listOf(2), runs to numbers)
    }

    @Test
    fun listener_hearsOfEachCallOnce_beforeTheFallback() {
        val heard = CopyOnWriteArrayList<CallEvent>()
        val pipeline = full()
        val listener = pipeline.onCall { heard += it }
        pipeline.run { "a" }
        assertEquals("b", pipeline.run({ "b" }) { throw IOException("$it") })
        breaker.trip()
        pipeline.fails<CircuitOpenException> { "no" }
        breaker.reset()
        pipeline.fails<LinkageError> { throw LinkageError() }
        assertEquals(
            listOf(CallOutcome.SUCCESS, CallOutcome.FAILURE, CallOutcome.REFUSED, CallOutcome.IGNORED),
            heard.map { it.outcome },
        )
        assertEquals(listOf(1, 3, 0, 1), heard.map { it.attempts })
        assertEquals(listOf(0, 2, 0, 0), heard.map { it.retries })
        assertTrue(heard.all { it.waited >= Duration.ZERO && it.duration >= it.waited }, "$heard")
        assertEquals("4", heard[1].failure?.message)
        listener.close()
        pipeline.run { "unheard" }
        assertEquals(4, heard.size)
    }

    @Test
    fun toString_namesTheLayers() {
        val text = ResiliencePipeline("billing", semaphore = semaphore, hedge = Hedge(5.milliseconds)).toString()
        assertEquals(
            "ResiliencePipeline 'billing' (hedge = Hedge (after = 5ms, attempts = 2), semaphore = $semaphore, " +
                "maxWait = Infinity, attemptTimeout = Infinity)",
            text,
        )
        assertEquals("billing" to 0L, full().name to full().usage().capacity)
    }

    private companion object {
        val FAILURE = IOException("down")
    }
}
