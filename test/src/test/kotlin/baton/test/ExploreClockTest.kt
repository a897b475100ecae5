package baton.test

import baton.resilience.Backoff
import baton.resilience.CircuitBreaker
import baton.resilience.CircuitBreakerConfig
import baton.resilience.Jitter
import baton.resilience.RateLimiter
import baton.resilience.RetryPolicy
import baton.resilience.per
import baton.resilience.retry
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** Objects that measure time bind themselves to the virtual time of a run. */
class ExploreClockTest {
    @Test
    fun limiter_waitsInTheTimeOfTheRun() =
        explore(runs = 200) {
            val limiter = RateLimiter.tokenBucket(1 per 1.seconds)
            var ended = 0
            repeat(3) {
                launch {
                    limiter.acquire()
                    ended++
                }
            }
            delay(1_999.milliseconds)
            assertEquals(2, ended)
            delay(1.milliseconds)
            delay(1.milliseconds)
            assertEquals(3, ended)
        }

    @Test
    fun limiter_ofAllRuns_isBoundAnewByEach() {
        val limiter = RateLimiter.tokenBucket(1 per 1.seconds)
        explore(runs = 50) { withTimeout(10.seconds) { repeat(3) { limiter.acquire() } } }
    }

    /** As long as the checks run, it is the time of the run. */
    @Test
    fun limiter_inAfterwards_hasTheTimeOfTheRun() {
        val limiter = RateLimiter.tokenBucket(1 per 1.seconds)
        explore(runs = 20) {
            launch {
                limiter.acquire()
                delay(5.seconds)
            }
            afterwards { assertTrue(limiter.tryAcquire()) }
        }
        // And not longer: a thread may use it now.
        assertTrue(limiter.availablePermits <= 1)
    }

    @Test
    fun tryAcquire_beforeTheLimiterKnowsTheRun_saysWhichCallIsFirst() {
        val limiter = RateLimiter.tokenBucket(1 per 1.seconds, name = "api")
        val refusal = assertThrows<AssertionError> { explore { limiter.tryAcquire() } }.cause!!
        assertEquals(
            "RateLimiter 'api' does not know the time of explore: in the Kotlin API, call one of its suspend " +
                "functions first, for a limiter tryAcquire(timeout = Duration.ZERO)",
            refusal.message,
        )
        explore(runs = 20) {
            val own = RateLimiter.tokenBucket(1 per 1.seconds)
            assertTrue(own.tryAcquire(timeout = Duration.ZERO))
            assertFalse(own.tryAcquire())
            launch { own.acquire() }
        }
    }

    @Test
    fun threadThatUsesALimiterOfARun_isToldToKeepItThere() {
        var message: String? = null
        explore(runs = 1) {
            val limiter = RateLimiter.tokenBucket(1 per 1.seconds, name = "api")
            limiter.acquire()
            Thread { message = runCatching { limiter.tryAcquire() }.exceptionOrNull()?.message }
                .apply { start() }
                .join(120_000)
        }
        assertTrue(
            message!!.startsWith("RateLimiter 'api' is used in the virtual time of explore, and now by "),
            message,
        )
        val remedy = ": make it in the body of explore, and use it in coroutines of that body alone"
        assertTrue(message!!.endsWith(remedy), message)
    }

    @Test
    fun manualClock_thatNoCoroutineAdvances_isNamed() {
        val clock = ManualClock()
        val failure =
            assertThrows<AssertionError> {
                explore {
                    val limiter = RateLimiter.tokenBucket(1 per 1.seconds, clock = clock)
                    launch { repeat(2) { limiter.acquire() } }
                }
            }
        val hint = failure.message!!.lines().filter { "advance" in it }
        val why = ": a coroutine of the body has to advance it, or the object needs no clock in explore"
        val timer = "ManualClock (2000-01-01T00:00:00Z, timers = 1: a timer in PT1S)"
        assertEquals(listOf("  $timer has timers$why"), hint)
    }

    @Test
    fun retry_measuresTheTimeOfTheRun() =
        explore(runs = 20) {
            launch {}
            var attempts = 0
            runCatching {
                val policy =
                    RetryPolicy(
                        maxAttempts = 100,
                        backoff = Backoff.constant(10.seconds),
                        jitter = Jitter.None,
                        maxElapsed = 25.seconds,
                        retryIf = { true },
                    )
                retry(policy) {
                    attempts++
                    error("wrong")
                }
            }
            assertEquals(3, attempts)
        }

    @Test
    fun breaker_probesInTheTimeOfTheRun() =
        explore(runs = 20) {
            launch {}
            val breaker = CircuitBreaker(CircuitBreakerConfig(openFor = Backoff.constant(10.seconds)))
            repeat(200) { runCatching { breaker.protect { error("wrong") } } }
            delay(13.seconds)
            breaker.protect {}
        }
}
