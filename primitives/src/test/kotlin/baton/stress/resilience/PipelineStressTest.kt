package baton.stress.resilience

import baton.monitoring.CallEvent
import baton.resilience.AttemptTimeoutException
import baton.resilience.Backoff
import baton.resilience.CircuitBreaker
import baton.resilience.CircuitBreakerConfig
import baton.resilience.Hedge
import baton.resilience.Jitter
import baton.resilience.ResiliencePipeline
import baton.resilience.RetryPolicy
import baton.resilience.SlidingWindow
import baton.stress.Stress
import baton.sync.Semaphore
import java.io.IOException
import java.util.concurrent.atomic.AtomicInteger
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.delay
import kotlinx.coroutines.joinAll
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Races of attempts on many threads, of calls that succeed, fail, come late or are cancelled. */
class PipelineStressTest : Stress() {
    @Test
    fun hedgedCalls_underCancellation_keepTheirBound_andLeaveNothingBehind() {
        val semaphore = Semaphore(PERMITS)
        val breaker = CircuitBreaker(CircuitBreakerConfig(minimumCalls = Int.MAX_VALUE, window = WINDOW))
        val retry = RetryPolicy(maxAttempts = 2, backoff = Backoff.constant(Duration.ZERO), jitter = Jitter.None)
        val pipeline =
            ResiliencePipeline(
                "stress",
                retry,
                breaker,
                semaphore = semaphore,
                hedge = Hedge(after = 1.milliseconds, attempts = 3),
                attemptTimeout = 20.milliseconds,
            )
        val inside = AtomicInteger()
        val most = AtomicInteger()
        val begun = AtomicInteger()
        val heard = AtomicInteger()
        val attemptsHeard = AtomicInteger()
        pipeline.onCall { event: CallEvent ->
            heard.incrementAndGet()
            attemptsHeard.addAndGet(event.attempts)
        }
        val calls = AtomicInteger()
        stress(semaphore) {
            crowd(CROWD, { calls.get() < CALLS }, 30.milliseconds) {
                    calls.incrementAndGet()
                    try {
                        pipeline.call {
                            begun.incrementAndGet()
                            most.accumulateAndGet(inside.incrementAndGet(), ::maxOf)
                            try {
                                if (chance(5)) yieldUpTo(3) else delay(random.nextLong(5).milliseconds)
                                if (chance(3)) throw IOException()
                            } finally {
                                inside.decrementAndGet()
                            }
                        }
                    } catch (_: IOException) {} catch (_: AttemptTimeoutException) {}
                }
                .joinAll()
        }
        assertEquals(Triple(0, PERMITS, 0), Triple(inside.get(), semaphore.availablePermits, semaphore.waiting))
        assertTrue(most.get() in 1..PERMITS, "$most")
        assertEquals(calls.get() to begun.get(), heard.get() to attemptsHeard.get())
    }

    private companion object {
        const val PERMITS = 4
        const val CROWD = 8
        const val CALLS = 3_000
        val WINDOW = SlidingWindow.Calls(Int.MAX_VALUE)
    }
}
