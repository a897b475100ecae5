package guide.testing

import app.cash.turbine.test
import baton.resilience.Backoff
import baton.resilience.BreakerState
import baton.resilience.CircuitBreaker
import baton.resilience.CircuitBreakerConfig
import baton.resilience.CircuitOpenException
import baton.resilience.Jitter
import baton.resilience.RateLimiter
import baton.resilience.RetryPolicy
import baton.resilience.per
import baton.resilience.retry
import baton.scheduler.Schedule
import baton.scheduler.ScheduleConfig
import baton.scheduler.Trigger
import baton.sync.Semaphore
import baton.sync.withPermit
import baton.test.FakeScheduleStore
import baton.test.asBatonClock
import baton.test.assertNoLeaks
import baton.test.shouldBeIdle
import baton.test.shouldHaveWaiters
import io.kotest.core.spec.style.FunSpec
import io.kotest.engine.coroutines.testScheduler
import java.io.IOException
import java.time.Instant
import java.time.LocalTime
import java.time.ZoneId
import kotlin.random.Random
import kotlin.time.Duration.Companion.days
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.advanceTimeBy
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** The examples of docs/testing.md that need the virtual time of kotlinx-coroutines-test. */
@OptIn(ExperimentalCoroutinesApi::class)
internal class TimeExamplesTest {
    @Test
    fun `a call each second takes an hour for 3,600`() = runTest {
        val limiter = RateLimiter.tokenBucket(1 per 1.seconds)
        limiter.acquire() // it begins full
        repeat(3_600) { limiter.acquire() }
        assertEquals(3_600_000, currentTime)
    }

    @Test
    fun `retries come after one, two and four seconds`() = runTest {
        val policy = RetryPolicy(maxAttempts = 4, backoff = Backoff.exponential(1.seconds), jitter = Jitter.None)
        assertEquals(listOf(0L, 1_000, 3_000, 7_000), attempts(policy))
    }

    @Test
    fun `a seed makes the jitter exact`() = runTest {
        fun policy() = RetryPolicy(maxAttempts = 4, jitter = Jitter.Full, random = Random(seed = 7))
        val first = attempts(policy())
        val start = currentTime
        assertEquals(first, attempts(policy()).map { it - start })
    }

    /** When the attempts begin, in virtual milliseconds. */
    private suspend fun TestScope.attempts(policy: RetryPolicy): List<Long> {
        val begun = ArrayList<Long>()
        assertThrows<IOException> {
            retry(policy) {
                begun += currentTime
                throw IOException()
            }
        }
        return begun
    }

    @Test
    fun `a breaker opens, probes and closes`() = runTest {
        val config =
            CircuitBreakerConfig(
                minimumCalls = 1,
                openFor = Backoff.constant(30.seconds),
                jitter = Jitter.None,
                probes = 1,
            )
        val breaker = CircuitBreaker(config)
        assertThrows<IOException> { breaker.protect { throw IOException() } }
        assertEquals(BreakerState.OPEN, breaker.state)
        assertThrows<CircuitOpenException> { breaker.protect {} }
        delay(30.seconds)
        breaker.protect { assertEquals(BreakerState.HALF_OPEN, breaker.state) }
        assertEquals(BreakerState.CLOSED, breaker.state)
    }

    @Test
    fun `a schedule keeps nine o'clock over a change of summer time`() = runTest {
        val berlin = ZoneId.of("Europe/Berlin")
        val atNine = Trigger { after ->
            val today = after.atZone(berlin).with(LocalTime.of(9, 0))
            (if (today.toInstant() > after) today else today.plusDays(1)).toInstant()
        }
        val clock = testScheduler.asBatonClock(Instant.parse("2027-01-01T00:00:00Z"))
        val runs = ArrayList<Instant>()
        val schedule = Schedule<String>(config = ScheduleConfig(clock = clock)) { runs += it.at }
        schedule.put("report", atNine)
        backgroundScope.launch { schedule.run() }
        advanceTimeBy(365.days)
        assertEquals(365, runs.size)
        assertEquals(Instant.parse("2027-03-27T08:00:00Z"), runs[85])
        assertEquals(Instant.parse("2027-03-28T07:00:00Z"), runs[86])
    }

    @Test
    fun `a cancelled waiter leaves nothing behind`() = runTest {
        val slots = Semaphore(1, name = "slots")
        slots.acquire()
        val waiter = launch { slots.acquire() }
        runCurrent()
        slots shouldHaveWaiters 1
        waiter.cancelAndJoin()
        slots.release()
        slots.shouldBeIdle()
    }

    @Test
    fun `an import that fails gives its permits back`() = runTest {
        val uplink = Semaphore(2, name = "uplink")
        assertNoLeaks(uplink) { runCatching { uplink.withPermit { throw IOException() } } }
    }

    @Test
    fun `a schedule fires during an outage of its store`() = runTest {
        val store = FakeScheduleStore<String>()
        val failures = ArrayList<Throwable>()
        val config = ScheduleConfig(clock = testScheduler.asBatonClock(), onFailure = { _, e -> failures += e })
        val schedule = Schedule(store, config = config) {}
        backgroundScope.launch { schedule.run() }
        runCurrent() // loads
        store.failFor(10.minutes)
        schedule.put("report", Trigger.every(1.minutes, Instant.EPOCH))
        delay(9.5.minutes)
        assertEquals(9, schedule.metrics.fired)
        assertEquals(1, failures.size) // once for each outage
    }

    @Test
    fun `a flow is limited`() = runTest {
        val limiter = RateLimiter.tokenBucket(1 per 2.hours)
        val pages = flow {
            for (page in 1..3) {
                limiter.acquire()
                emit(page)
            }
        }
        pages.test {
            assertEquals(1, awaitItem())
            assertEquals(2, awaitItem())
            assertEquals(3, awaitItem())
            awaitComplete()
        }
        assertEquals(4 * 3_600_000L, currentTime)
    }
}

internal class LimiterSpec :
    FunSpec({
        test("five permits take four seconds").config(coroutineTestScope = true) {
            val limiter = RateLimiter.tokenBucket(1 per 1.seconds)
            repeat(5) { limiter.acquire() }
            assertEquals(4_000, testScheduler.currentTime)
        }
    })
