package baton.batch

import baton.PermitTimeoutException
import baton.resilience.Backoff
import baton.resilience.BreakerState
import baton.resilience.CircuitBreaker
import baton.resilience.CircuitBreakerConfig
import baton.resilience.CircuitOpenException
import baton.resilience.Jitter
import baton.resilience.RateLimitedException
import baton.resilience.RateLimiter
import baton.resilience.RetryPolicy
import baton.resilience.per
import java.io.IOException
import java.util.concurrent.TimeoutException
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.delay
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** A batch with a limiter and a breaker. */
class BatchLimitsTest {
    /** Other tests of this JVM may have filled the heap. */
    private val anyHeap = ConcurrencyConfig.Memory(maxHeapUsageMB = Int.MAX_VALUE, gcThresholdPercent = 100)
    private val config = ConcurrencyConfig(maxConcurrentTasks = 3, batchSize = 4, memory = anyHeap)

    @Test
    fun limiter_paces_everyAttempt() = runTest {
        val limiter = RateLimiter.tokenBucket(1.per(1.seconds), burst = 1)
        val policy = RetryPolicy(maxAttempts = 2, backoff = Backoff.constant(1.milliseconds), jitter = Jitter.None)
        val times = ArrayList<Long>()
        BatchProcessor(config, policy, limiter).process(1..2) {
            times += currentTime
            throw IOException()
        }
        assertEquals(listOf(0L, 1_000, 2_000, 3_000), times)
    }

    @Test
    fun breaker_thatIsOpen_failsItsItemsUntried() = runTest {
        val breaker = CircuitBreaker().apply { trip() }
        var tasks = 0
        val report = BatchProcessor(config, breaker = breaker).process(1..3) { tasks++ }
        assertEquals(0, tasks)
        assertTrue(report.failed.size == 3 && report.failed.all { it.cause is CircuitOpenException })
    }

    @Test
    fun refusal_ofTheLimiter_countsAsNothingInTheBreaker() = runTest {
        val limiter = RateLimiter.tokenBucket(1.per(1.seconds), burst = 1, maxWaiting = 0)
        limiter.acquire()
        val breaker = CircuitBreaker(CircuitBreakerConfig(minimumCalls = 1))
        val batch = BatchProcessor(config, RetryPolicy(maxAttempts = 1), limiter, breaker)
        assertEquals(3, batch.process(1..3) {}.failed.size)
        assertEquals(0, breaker.metrics.calls)
        assertEquals(BreakerState.CLOSED, breaker.state)
        delay(1.seconds)
        batch.process(1..1) { throw IOException() }
        assertEquals(BreakerState.OPEN, breaker.state)
    }

    @Test
    fun task_thatFails_isTriedAgainByDefaultAsDocumented() = runTest {
        val failures =
            listOf(IOException(), TimeoutException(), IllegalStateException(), PermitTimeoutException("full"))
        val report = BatchProcessor(ConcurrencyConfig()).process(failures) { throw it }
        assertEquals(listOf(3, 3, 1, 1), report.failed.sortedBy { failures.indexOf(it.item) }.map { it.attempts })
    }

    @Test
    fun attempts_thatTheLimiterRefuses_areNotCounted() = runTest {
        val limiter = RateLimiter.tokenBucket(1.per(1.seconds), burst = 1, maxWaiting = 0)
        limiter.acquire()
        val policy = RetryPolicy(4, Backoff.constant(1.seconds), Jitter.None, retryIf = { it is RateLimitedException })
        val report = BatchProcessor(config, policy, limiter).process(1..1) { throw IllegalStateException() }
        assertEquals(1, report.failed.single().attempts)
        assertEquals(0, report.retries)
    }
}
