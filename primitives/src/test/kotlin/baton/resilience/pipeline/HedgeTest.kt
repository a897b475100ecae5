package baton.resilience.pipeline

import baton.PermitTimeoutException
import baton.monitoring.CallEvent
import baton.resilience.Backoff
import baton.resilience.CircuitBreaker
import baton.resilience.CircuitBreakerConfig
import baton.resilience.CircuitOpenException
import baton.resilience.Hedge
import baton.resilience.RateLimiter
import baton.resilience.ResiliencePipeline
import baton.resilience.RetryPolicy
import baton.resilience.per
import baton.sync.Semaphore
import java.io.IOException
import java.util.concurrent.CancellationException
import kotlin.time.Duration.Companion.days
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withContext
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** Races of attempts, in virtual time. */
class HedgeTest {
    private val limiter = RateLimiter.tokenBucket(1 per 1.days, burst = 10)
    private val semaphore = Semaphore(3)
    private val breaker = CircuitBreaker(CircuitBreakerConfig(minimumCalls = 10, slowCall = 1.seconds))
    private val hedge = Hedge(after = 200.milliseconds, attempts = 3)
    private var begun = 0
    private var inside = 0

    private fun pipeline(hedge: Hedge = this.hedge, retry: RetryPolicy? = null) =
        ResiliencePipeline("x", retry, breaker, limiter, semaphore, hedge)

    /** Each attempt, from 1, runs [attempt], and is counted while it is inside. */
    private suspend fun <T> ResiliencePipeline.race(attempt: suspend (Int) -> T): T = call {
        val number = ++begun
        inside++
        try {
            attempt(number)
        } finally {
            inside--
        }
    }

    private fun assertOver(tokens: Int) {
        assertEquals(Triple(0, 3, 10L - tokens), Triple(inside, semaphore.availablePermits, limiter.availablePermits))
    }

    @Test
    fun fastCall_hasOneAttempt() = runTest {
        assertEquals(1, pipeline().race { it.also { delay(199.milliseconds) } })
        assertEquals(1 to 199L, begun to currentTime)
        assertOver(tokens = 1)
    }

    @Test
    fun silentAttempt_isJoinedByAnother_andTheFirstSuccessWins() = runTest {
        val value = pipeline().race { if (it == 2) it.also { delay(100.milliseconds) } else awaitCancellation() }
        assertEquals(Triple(2, 300L, 2), Triple(value, currentTime, begun))
        assertOver(tokens = 2)
        assertEquals(1 to 0.0, breaker.metrics.calls to breaker.metrics.failureRate)
    }

    @Test
    fun attempts_areAsManyAsAllowed_eachAfterTheOneBefore() = runTest {
        val starts = ArrayList<Long>()
        val value =
            pipeline().race {
                starts += currentTime
                delay(if (it == 3) 1.seconds else 9.seconds)
                it
            }
        assertEquals(Triple(3, listOf(0L, 200L, 400L), 1400L), Triple(value, starts, currentTime))
        assertOver(tokens = 3)
    }

    /** The time of the hedge begins with the block, not with the wait for its permit. */
    @Test
    fun waitForThePermit_isNoSilence() = runTest {
        semaphore.acquire(3)
        val call = async { pipeline().race { it.also { delay(100.milliseconds) } } }
        delay(5.seconds)
        semaphore.release(3)
        assertEquals(1 to 1, call.await() to begun)
        assertEquals(0.0, breaker.metrics.slowRate)
        assertOver(tokens = 1)
    }

    @Test
    fun furtherAttempt_withoutAPermit_doesNotTakePlace() = runTest {
        semaphore.acquire(2)
        assertEquals(1, pipeline().race { it.also { delay(1.seconds) } })
        assertEquals(1 to 1, begun to semaphore.availablePermits)
        assertEquals(7L, limiter.availablePermits, "the token was spent before the semaphore refused")
        limiter.update(1 per 1.days, burst = 1)
        check(limiter.tryAcquire())
        semaphore.release(2)
        assertThrows<PermitTimeoutException> {
            ResiliencePipeline("x", limiter = limiter, hedge = hedge, maxWait = 1.seconds).call {}
        }
    }

    @Test
    fun failure_beforeTheOtherAttempt_endsTheCallAtOnce() = runTest {
        val failure = IOException("1")
        assertSame(failure, assertThrows<IOException> { pipeline().race { throw failure } })
        assertEquals(1 to 0L, begun to currentTime)
        delay(1.seconds)
        assertEquals(1, begun)
        assertOver(tokens = 1)
    }

    @Test
    fun failure_beforeTheOtherAttempt_isAskedAgainByARetryAround() = runTest {
        val again = RetryPolicy(maxAttempts = 2, backoff = Backoff.constant(0.seconds))
        val value = pipeline(retry = again).race { if (it == 1) throw IOException("1") else it }
        assertEquals(Triple(2, 0L, 2), Triple(value, currentTime, begun))
        assertOver(tokens = 2)
    }

    @Test
    fun failure_whileAnotherAttemptRuns_waitsForThat() = runTest {
        val value =
            pipeline(Hedge(200.milliseconds)).race {
                delay(300.milliseconds)
                if (it == 1) throw IOException("1")
                it
            }
        assertEquals(2 to 500L, value to currentTime)
        assertEquals(0.0, breaker.metrics.failureRate)
        assertOver(tokens = 2)
    }

    @Test
    fun failures_ofAllAttempts_throwTheFirstWithTheOthersSuppressed() = runTest {
        val e =
            assertThrows<IOException> {
                pipeline().race {
                    delay(1.seconds - 250.milliseconds * it)
                    throw IOException("$it")
                }
            }
        assertEquals("1" to setOf("2", "3"), e.message to e.suppressed.map { it.message }.toSet())
        assertEquals(1 to 1.0, breaker.metrics.calls to breaker.metrics.failureRate)
        assertOver(tokens = 3)
    }

    @Test
    fun error_orCancellation_ofAnAttempt_endsTheRaceAtOnce() = runTest {
        for (thrown in listOf(LinkageError("bug"), CancellationException("of another"))) {
            begun = 0
            val start = currentTime
            val e = assertThrows<Throwable> { pipeline().race { if (it == 2) throw thrown else awaitCancellation() } }
            assertEquals(thrown.javaClass to thrown.message, e.javaClass to e.message)
            assertEquals(200L, currentTime - start)
        }
        assertEquals(0, breaker.metrics.calls)
        assertOver(tokens = 4)
    }

    @Test
    fun resultThatIsAFailure_doesNotWinWhileAnotherAttemptRuns() = runTest {
        val judging = CircuitBreaker(CircuitBreakerConfig(failureResult = { it == 503 }))
        val pipeline = ResiliencePipeline("x", breaker = judging, hedge = Hedge(200.milliseconds))
        val value =
            pipeline.race {
                delay(300.milliseconds)
                if (it == 1) 503 else 200
            }
        assertEquals(200 to 0.0, value to judging.metrics.failureRate)
        begun = 0
        assertEquals(503, pipeline.race { 503.also { delay(300.milliseconds) } })
        assertEquals(2 to 0.5, begun to judging.metrics.failureRate)
    }

    @Test
    fun loser_thatIgnoresItsCancellation_isAwaited_andItsValueDropped() = runTest {
        val value =
            pipeline().race {
                if (it == 1) withContext(NonCancellable) { delay(2.seconds) }
                it
            }
        assertEquals(2 to 2000L, value to currentTime)
        assertOver(tokens = 2)
    }

    @Test
    fun loser_whoseCleanUpFails_harmsNobody() = runTest {
        val value =
            pipeline().race {
                try {
                    if (it == 1) awaitCancellation()
                } finally {
                    if (it == 1) throw IOException("clean-up")
                }
                it
            }
        assertEquals(2, value)
        assertOver(tokens = 2)
    }

    @Test
    fun eachAttempt_hasATimeLimitOfItsOwn() = runTest {
        val pipeline = ResiliencePipeline("x", hedge = Hedge(2.seconds), attemptTimeout = 3.seconds)
        assertEquals(
            2 to 4.0,
            pipeline.race { if (it == 1) awaitCancellation() else it.also { delay(2.seconds) } } to currentTime / 1000.0,
        )
        begun = 0
        assertThrows<baton.resilience.AttemptTimeoutException> { pipeline.race { awaitCancellation() } }
        assertEquals(2 to 9.0, begun to currentTime / 1000.0)
    }

    @Test
    fun race_insideARetry_isOneAttemptOfThat() = runTest {
        val heard = ArrayList<CallEvent>()
        val retry = RetryPolicy(maxAttempts = 2, backoff = Backoff.constant(1.seconds))
        val pipeline = pipeline(Hedge(200.milliseconds), retry).also { it.onCall { event -> heard += event } }
        val value =
            pipeline.race {
                delay(300.milliseconds)
                if (it <= 2) throw IOException("$it")
                it
            }
        assertEquals(3 to 2, value to breaker.metrics.calls)
        assertEquals(listOf(4, 1), heard.single().run { listOf(attempts, retries) })
        assertOver(tokens = 4)
    }

    @Test
    fun breakerThatOpensMeanwhile_doesNotStopTheRace() = runTest {
        launch {
            delay(100.milliseconds)
            breaker.trip()
        }
        assertEquals(2, pipeline().race { if (it == 1) awaitCancellation() else it })
        assertThrows<CircuitOpenException> { pipeline().race {} }
        assertOver(tokens = 2)
    }
}
