package baton.test.contracts

import baton.resilience.Backoff
import baton.resilience.CircuitBreaker
import baton.resilience.CircuitBreakerConfig
import baton.resilience.Hedge
import baton.resilience.Jitter
import baton.resilience.RateLimiter
import baton.resilience.ResiliencePipeline
import baton.resilience.RetryPolicy
import baton.resilience.per
import baton.sync.Semaphore
import baton.test.explore
import java.io.IOException
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Pipelines with all layers, in any order of the steps of their callers and attempts. */
class ExploredPipelineTest {
    @Test
    fun callsThroughAllLayers_anyOneCancelled_leaveNothingBehind() =
        explore(RUNS, SEED, cancels = true) {
            val semaphore = Semaphore(2)
            val breaker = CircuitBreaker(CircuitBreakerConfig(minimumCalls = 100))
            val limiter = RateLimiter.tokenBucket(100 per 1.seconds)
            val retry = RetryPolicy(maxAttempts = 2, backoff = Backoff.constant(1.seconds), jitter = Jitter.None)
            val hedge = Hedge(after = 1.seconds, attempts = 3)
            val pipeline =
                ResiliencePipeline("x", retry, breaker, limiter, semaphore, hedge, attemptTimeout = 5.seconds)
            var inside = 0
            var answered = 0
            val callers =
                List(2) {
                    launch(CoroutineName("caller $it")) {
                        var attempts = 0
                        pipeline.call {
                            val attempt = ++attempts
                            assertTrue(++inside <= 2)
                            try {
                                if (attempt == 1) delay(3.seconds) else yield()
                                if (attempt == 1) throw IOException()
                            } finally {
                                inside--
                            }
                        }
                        answered++
                    }
                }
            afterwards {
                assertEquals(0 to 2, inside to semaphore.availablePermits)
                assertTrue(answered >= callers.count { !it.isCancelled })
            }
        }

    @Test
    fun race_ofAttemptsThatEndAtTheSameMoment_hasOneWinner() =
        explore(RUNS, SEED, cancels = true) {
            val semaphore = Semaphore(2)
            val pipeline = ResiliencePipeline(semaphore = semaphore, hedge = Hedge(after = 1.seconds))
            val values = mutableListOf<Int>()
            val caller =
                launch(CoroutineName("caller")) {
                    var attempts = 0
                    values += pipeline.call { (++attempts).also { delay((3 - it).seconds) } }
                }
            afterwards {
                assertEquals(2, semaphore.availablePermits)
                assertTrue(values.size == 1 && values[0] in 1..2 || caller.isCancelled && values.isEmpty(), "$values")
            }
        }
}
