package baton.test

import baton.resilience.Backoff
import baton.resilience.CircuitBreaker
import baton.resilience.CircuitBreakerConfig
import baton.resilience.Jitter
import baton.resilience.RateLimiter
import baton.resilience.RetryPolicy
import baton.resilience.per
import baton.resilience.retry
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** What measures time binds itself to the virtual time of a run. */
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
