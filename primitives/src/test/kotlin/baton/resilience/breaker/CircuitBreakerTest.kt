package baton.resilience.breaker

import baton.reportingTo
import baton.resilience.Backoff
import baton.resilience.BreakerState
import baton.resilience.BreakerState.CLOSED
import baton.resilience.BreakerState.DISABLED
import baton.resilience.BreakerState.FORCED_OPEN
import baton.resilience.BreakerState.HALF_OPEN
import baton.resilience.BreakerState.OPEN
import baton.resilience.CircuitBreaker
import baton.resilience.CircuitOpenException
import baton.resilience.Jitter
import baton.resilience.RetryPolicy
import baton.resilience.SlidingWindow
import baton.resilience.retry
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlin.time.TestTimeSource
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.async
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.test.testTimeSource
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** A breaker in virtual time: exact instants. */
@OptIn(ExperimentalCoroutinesApi::class)
internal class CircuitBreakerTest {
    @Test
    fun breaker_opensAtTheRate_afterTheMinimumOfCalls() = runTest {
        val breaker = CircuitBreaker(config(testTimeSource, minimumCalls = 4, failureRate = 0.5))
        breaker.fail()
        breaker.fail()
        breaker.succeed()
        assertEquals(CLOSED, breaker.state)
        breaker.succeed()
        assertEquals(OPEN, breaker.state, "a success that reaches the minimum is checked, too")
        assertEquals(4 to 0.5, breaker.metrics.calls to breaker.metrics.failureRate)
    }

    @Test
    fun breaker_belowTheRate_staysClosed() = runTest {
        val breaker = CircuitBreaker(config(testTimeSource, SlidingWindow.Calls(100), 100, failureRate = 0.07))
        repeat(94) { breaker.succeed() }
        repeat(6) { breaker.fail() }
        assertEquals(CLOSED, breaker.state)
        repeat(94) { breaker.succeed() }
        assertEquals(0.06, breaker.metrics.failureRate)
        breaker.fail()
        assertEquals(CLOSED, breaker.state, "a failure that pushes one out")
        breaker.fail()
        repeat(98) { breaker.succeed() }
        repeat(6) { breaker.fail() }
        assertEquals(CLOSED, breaker.state)
        breaker.fail()
        assertEquals(OPEN, breaker.state)
        assertEquals(0.07, breaker.metrics.failureRate)
    }

    @Test
    fun openBreaker_refusesUntilTheEnd_andLetsInAtIt() = runTest {
        val breaker = breaker
        breaker.failUntilOpen()
        assertEquals(10.seconds, breaker.refuse())
        delay(10.seconds - 1.milliseconds)
        assertEquals(1.milliseconds, breaker.refuse())
        assertEquals(1.milliseconds, breaker.retryIn)
        delay(1.milliseconds)
        assertEquals(OPEN to Duration.ZERO, breaker.state to breaker.retryIn)
        breaker.succeed()
        assertEquals(HALF_OPEN, breaker.state)
        breaker.succeed()
        assertEquals(CLOSED, breaker.state)
        assertEquals(listOf(0, 0.0, 2L), breaker.metrics.run { listOf(calls, failureRate, rejected) })
    }

    @Test
    fun refusal_namesBreakerAndState() = runTest {
        val breaker = breaker
        breaker.failUntilOpen()
        fun message() = assertThrows<CircuitOpenException> { breaker.enter(breaker.start()) }.message
        assertEquals("CircuitBreaker 'api' is open, retry in 10s", message())
        breaker.trip()
        assertEquals("CircuitBreaker 'api' is forced open", message())
        assertEquals(
            "CircuitBreaker 'api' (FORCED_OPEN, calls = 2, failureRate = 1.0, slowRate = 0.0, rejected = 2)",
            breaker.toString(),
        )
        breaker.reset()
        breaker.failUntilOpen()
        delay(10.seconds)
        repeat(2) { breaker.enter(breaker.start()) }
        assertEquals("CircuitBreaker 'api' is half open and its 2 probes are out", message())
    }

    @Test
    fun failedProbe_opensAgain_forLonger() = runTest {
        val breaker =
            CircuitBreaker(config(testTimeSource, openFor = Backoff.exponential(4.seconds), maxOpenFor = 10.seconds))
        breaker.failUntilOpen()
        for (open in listOf(4, 8, 10, 10)) {
            assertEquals(open.seconds, breaker.retryIn)
            delay(open.seconds)
            breaker.fail()
            assertEquals(OPEN, breaker.state)
        }
        delay(10.seconds)
        repeat(2) { breaker.succeed() }
        breaker.failUntilOpen()
        assertEquals(4.seconds, breaker.retryIn, "the first opening in a row again")
    }

    @Test
    fun jitter_staysWithinItsFactor() = runTest {
        val opened = mutableSetOf<Duration>()
        val breaker = CircuitBreaker(config(testTimeSource, jitter = Jitter.Factor(0.2)))
        repeat(1_000) {
            breaker.failUntilOpen()
            opened += breaker.retryIn
            breaker.reset()
        }
        assertTrue(opened.all { it in 8.seconds..12.seconds }, "$opened")
        assertTrue(opened.min() < 8.2.seconds && opened.max() > 11.8.seconds, "$opened")
    }

    @Test
    fun slowCalls_openTheBreaker_ifTheyTakeLonger() = runTest {
        val breaker = CircuitBreaker(config(testTimeSource, slowCall = 2.seconds, slowRate = 0.5))
        repeat(4) { breaker.protect { delay(2.seconds) } }
        assertEquals(0.0, breaker.metrics.slowRate)
        breaker.protect { delay(2_001.milliseconds) }
        assertEquals(0.25 to CLOSED, breaker.metrics.slowRate to breaker.state)
        breaker.protect { delay(2_001.milliseconds) }
        assertEquals(0.5 to OPEN, breaker.metrics.slowRate to breaker.state)
    }

    @Test
    fun timeWindow_forgetsInTenths() = runTest {
        val breaker = CircuitBreaker(config(testTimeSource, SlidingWindow.Time(10.seconds), minimumCalls = 3))
        breaker.fail()
        delay(9_999.milliseconds)
        breaker.fail()
        assertEquals(2, breaker.metrics.calls)
        delay(1.milliseconds)
        assertEquals(1, breaker.metrics.calls)
        breaker.succeed()
        assertEquals(CLOSED, breaker.state)
        breaker.succeed()
        assertEquals(CLOSED to 3, breaker.state to breaker.metrics.calls, "a third")
        breaker.fail()
        assertEquals(OPEN, breaker.state)
        breaker.reset()
        delay(1_000.seconds)
        assertEquals(0, breaker.metrics.calls)
        breaker.failUntilOpenAfter(3)
    }

    private suspend fun CircuitBreaker.failUntilOpenAfter(calls: Int) {
        repeat(calls - 1) {
            fail()
            assertEquals(CLOSED, state)
        }
        fail()
        assertEquals(OPEN, state)
    }

    @Test
    fun timeWindow_whoseOldSuccessesAreForgotten_opensWithASuccess() = runTest {
        val breaker = CircuitBreaker(config(testTimeSource, SlidingWindow.Time(10.seconds), minimumCalls = 3))
        repeat(5) { breaker.succeed() }
        delay(5.seconds)
        repeat(2) { breaker.fail() }
        delay(5.seconds)
        assertEquals(CLOSED, breaker.state)
        breaker.succeed()
        assertEquals(OPEN, breaker.state)
    }

    @Test
    fun trip_refusesUntilReset() = runTest {
        val breaker = breaker
        breaker.trip()
        breaker.trip()
        delay(1_000.seconds)
        assertEquals(Duration.INFINITE to Duration.INFINITE, breaker.refuse() to breaker.retryIn)
        assertEquals(FORCED_OPEN, breaker.state)
        breaker.reset()
        breaker.succeed()
        assertEquals(CLOSED to 1, breaker.state to breaker.metrics.calls)
    }

    @Test
    fun disable_letsAllThroughAndCounts() = runTest {
        val breaker = breaker
        breaker.failUntilOpen()
        breaker.disable()
        repeat(3) { breaker.fail() }
        assertEquals(DISABLED to 3, breaker.state to breaker.metrics.calls)
        breaker.disable()
        assertEquals(3, breaker.metrics.calls)
        assertEquals(Duration.ZERO, breaker.retryIn)
        breaker.reset()
        assertEquals(CLOSED to 0, breaker.state to breaker.metrics.calls)
    }

    @Test
    fun awaitClosed_returnsInClosedAndDisabled() = runTest {
        val breaker = breaker
        breaker.awaitClosed()
        for (close in listOf(breaker::reset, breaker::disable)) {
            breaker.trip()
            val waiters = List(3) { async { breaker.awaitClosed().let { currentTime } } }
            val cancelled = launch { breaker.awaitClosed() }
            runCurrent()
            assertEquals(4, breaker.waiting)
            cancelled.cancelAndJoin()
            assertEquals(3, breaker.waiting)
            delay(1.seconds)
            val now = currentTime
            close()
            assertEquals(List(3) { now }, waiters.map { it.await() })
            assertEquals(0, breaker.waiting)
        }
    }

    @Test
    fun awaitClosed_withATimeout_returnsWhetherItWasClosedInTime() = runTest {
        val breaker = breaker
        assertTrue(breaker.awaitClosed(timeout = Duration.ZERO))
        breaker.failUntilOpen()
        assertFalse(breaker.awaitClosed(timeout = Duration.ZERO))
        assertFalse(breaker.awaitClosed(timeout = (-1).seconds))
        assertFalse(breaker.awaitClosed(timeout = 10.seconds))
        assertEquals(10_000L to 0, currentTime to breaker.waiting)
        val waits = async { breaker.awaitClosed(timeout = 5.seconds) }
        runCurrent()
        repeat(2) { breaker.protect { delay(1.seconds) } }
        assertTrue(waits.await())
        assertEquals(12_000L, currentTime)
    }

    @Test
    fun retry_waitsForTheBreaker_ifItsExceptionIsAccepted() = runTest {
        val breaker = breaker
        breaker.failUntilOpen()
        val policy =
            RetryPolicy(
                backoff = Backoff.constant(1.seconds),
                jitter = Jitter.None,
                retryIf = { it is CircuitOpenException },
            )
        assertEquals(10_000L, retry(policy) { breaker.protect { currentTime } })
        breaker.trip()
        assertThrows<CircuitOpenException> { retry(policy) { breaker.protect {} } }
        assertEquals(10_000L, currentTime, "an infinite time is not waited for")
        breaker.reset()
        breaker.failUntilOpen()
        assertThrows<CircuitOpenException> { retry { breaker.protect {} } }
        val longer = RetryPolicy(retryIf = { true }, retryAfter = { 15.seconds }, jitter = Jitter.None)
        assertEquals(25_000L, retry(longer) { breaker.protect { currentTime } })
    }

    @Test
    fun retry_doesNotWaitForABreakerThatWasTripped() = runTest {
        val breaker = breaker
        breaker.trip()
        val policy = RetryPolicy(maxRetryAfter = Duration.INFINITE, retryIf = { true })
        assertThrows<CircuitOpenException> { retry(policy) { breaker.protect {} } }
        assertEquals(0L, currentTime)
    }

    @Test
    fun clockThatGoesBack_standsStill() = runTest {
        val clock = TestTimeSource()
        val breaker = CircuitBreaker(config(clock, slowCall = 1.seconds))
        clock += 100.seconds
        breaker.failUntilOpen()
        clock += (-50).seconds
        assertEquals(10.seconds, breaker.refuse())
        clock += 59.seconds
        assertEquals(1.seconds, breaker.refuse())
        clock += 1.seconds
        breaker.protect { clock += (-60).seconds }
        breaker.succeed()
        assertEquals(CLOSED to 0.0, breaker.state to breaker.metrics.slowRate)
    }

    @Test
    fun backoff_thatThrowsOrIsNegative_doesNotHarmTheCall() = runTest {
        val reported = ArrayList<Throwable>()
        reportingTo(reported) {
            val throwing = CircuitBreaker(config(testTimeSource, openFor = { throw IllegalStateException() }))
            throwing.failUntilOpen()
            assertEquals(300.seconds to 1, throwing.retryIn to reported.size)
        }
        val negative = CircuitBreaker(config(testTimeSource, openFor = { (-1).seconds }))
        negative.failUntilOpen()
        negative.succeed()
        assertEquals(HALF_OPEN, negative.state)
        val infinite =
            CircuitBreaker(config(testTimeSource, openFor = { Duration.INFINITE }, maxOpenFor = Duration.INFINITE))
        infinite.failUntilOpen()
        assertEquals(Duration.INFINITE, infinite.refuse())
    }

    @Test
    fun states_areTheFive() =
        assertEquals("CLOSED OPEN HALF_OPEN FORCED_OPEN DISABLED", BreakerState.values().joinToString(" "))
}
