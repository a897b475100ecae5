package baton.resilience.breaker

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
import java.io.IOException
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlin.time.TestTimeSource
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.test.testTimeSource
import kotlinx.coroutines.withTimeout
import kotlinx.coroutines.withTimeoutOrNull
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** A breaker in virtual time: exact instants. */
@OptIn(ExperimentalCoroutinesApi::class)
internal class CircuitBreakerTest {
    private val TestScope.breaker
        get() = CircuitBreaker(config(testTimeSource), "api")

    private suspend fun TestScope.halfOpen() =
        breaker.also {
            it.failUntilOpen()
            delay(10.seconds)
        }

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
    fun halfOpen_letsInSoManyAtATime() = runTest {
        val breaker = CircuitBreaker(config(testTimeSource, probes = 3))
        breaker.failUntilOpen()
        delay(10.seconds)
        val ends = List(3) { CompletableDeferred<Unit>() }
        val inside = ends.map { async { runCatching { breaker.protect { it.await() } } } }
        runCurrent()
        delay(1.seconds)
        assertEquals(4.seconds, breaker.refuse(), "the rest of the first probe's time")
        ends[0].complete(Unit)
        inside[0].await()
        assertEquals(Duration.ZERO, breaker.retryIn)
        breaker.succeed()
        assertEquals(HALF_OPEN, breaker.state)
        ends[1].complete(Unit)
        inside[1].await()
        assertEquals(CLOSED, breaker.state)
        ends[2].completeExceptionally(IOException())
        inside[2].await()
        assertEquals(CLOSED to 0, breaker.state to breaker.metrics.calls)
    }

    @Test
    fun probe_thatIsCancelled_givesItsPlaceBack() = runTest {
        val breaker = halfOpen()
        val probes = List(2) { launch { breaker.protect { awaitCancellation() } } }
        runCurrent()
        breaker.refuse()
        probes[1].cancelAndJoin()
        breaker.succeed()
        val other = launch { breaker.protect { awaitCancellation() } }
        runCurrent()
        breaker.refuse()
        probes[0].cancelAndJoin()
        breaker.succeed()
        assertEquals(CLOSED, breaker.state)
        other.cancelAndJoin()
    }

    @Test
    fun probe_thatNeverComesBack_losesItsPlace_andItsLateEndChangesNothing() = runTest {
        val breaker = halfOpen()
        val late = List(2) { CompletableDeferred<String>() }
        val values = late.map { async { runCatching { breaker.protect { it.await() } } } }
        delay(4_999.milliseconds)
        assertEquals(1.milliseconds, breaker.refuse())
        delay(1.milliseconds)
        assertEquals(Duration.ZERO, breaker.retryIn)
        val probes = List(2) { async { breaker.protect { delay(1.seconds) } } }
        runCurrent()
        breaker.refuse()
        late[0].complete("late")
        assertEquals("late", values[0].await().getOrNull())
        assertEquals(HALF_OPEN, breaker.state)
        breaker.refuse()
        late[1].completeExceptionally(IOException("late"))
        assertEquals("late", values[1].await().exceptionOrNull()?.message)
        assertEquals(HALF_OPEN, breaker.state)
        probes.forEach { it.await() }
        assertEquals(CLOSED, breaker.state)
    }

    @Test
    fun probe_thatIsLateButWasNotReplaced_changesNothing() = runTest {
        val breaker = halfOpen()
        assertEquals("late", breaker.protect { delay(5.seconds).let { "late" } })
        breaker.succeed()
        assertEquals(HALF_OPEN, breaker.state)
        runCatching { breaker.protect { delay(5.seconds).also { throw IOException() } } }
        assertEquals(HALF_OPEN, breaker.state)
        breaker.protect { delay(4_999.milliseconds) }
        assertEquals(CLOSED, breaker.state)
    }

    @Test
    fun results_ofCallsFromBeforeTheLastChange_areDropped() = runTest {
        val breaker = breaker
        val before = CompletableDeferred<Unit>()
        val calls = List(3) { async { runCatching { breaker.protect { before.await() } } } }
        runCurrent()
        breaker.failUntilOpen()
        delay(10.seconds)
        repeat(2) { breaker.succeed() }
        before.completeExceptionally(IOException())
        calls.forEach { it.await() }
        assertEquals(0 to CLOSED, breaker.metrics.calls to breaker.state)
    }

    @Test
    fun results_ofCallsFromBeforeAReset_areDropped() = runTest {
        val breaker = breaker
        val call = breaker.enter(breaker.start())
        breaker.succeed()
        breaker.reset()
        breaker.leave(call, breaker.start())
        assertEquals(0, breaker.metrics.calls)
    }

    @Test
    fun cancellationOfTheCaller_countsAsNothing_alsoAnExceptionOfItsCleanUp() = runTest {
        val breaker = breaker
        for (cleanUp in listOf({}, { throw IOException("clean-up") })) {
            val call = launch {
                runCatching {
                    breaker.protect {
                        try {
                            awaitCancellation()
                        } finally {
                            cleanUp()
                        }
                    }
                }
            }
            runCurrent()
            call.cancelAndJoin()
        }
        withTimeoutOrNull(10) { breaker.protect { awaitCancellation() } }
        runCatching { breaker.protect { throw CancellationException("of another") } }
        assertEquals(0, breaker.metrics.calls)
    }

    @Test
    fun value_ofACancelledCaller_isASuccess() = runTest {
        val breaker = breaker
        val other = launch { breaker.protect { runCatching { awaitCancellation() } } }
        runCurrent()
        other.cancelAndJoin()
        assertEquals(1 to 0.0, breaker.metrics.calls to breaker.metrics.failureRate)
    }

    @Test
    fun timeoutInside_isAFailure_andOneOutsideIsNot() = runTest {
        val breaker = breaker
        assertThrows<CancellationException> { withTimeout(10) { breaker.protect { awaitCancellation() } } }
        assertEquals(0, breaker.metrics.calls)
        assertThrows<CancellationException> { breaker.protect { withTimeout(10) { awaitCancellation() } } }
        assertEquals(1 to 1.0, breaker.metrics.calls to breaker.metrics.failureRate)
    }

    @Test
    fun exceptions_thatAreNoFailure_areSuccesses() = runTest {
        val breaker = CircuitBreaker(config(testTimeSource, isFailure = { it is IOException }))
        repeat(3) { assertThrows<IllegalStateException> { breaker.protect { error("not found") } } }
        assertEquals(3 to 0.0, breaker.metrics.calls to breaker.metrics.failureRate)
        breaker.fail()
        assertEquals(0.25, breaker.metrics.failureRate)
    }

    @Test
    fun isFailure_thatThrows_isAFailureAndKeepsTheException() = runTest {
        val breaker = CircuitBreaker(config(testTimeSource, isFailure = { throw IllegalArgumentException("mine") }))
        breaker.failUntilOpenBy {
            val e = assertThrows<IllegalArgumentException> { breaker.protect { throw IOException("first") } }
            assertEquals(listOf("first"), e.suppressed.map { it.message })
        }
        delay(10.seconds)
        assertThrows<IllegalArgumentException> { breaker.protect { throw IOException("probe") } }
        assertEquals(OPEN, breaker.state)
    }

    private inline fun CircuitBreaker.failUntilOpenBy(call: () -> Unit) {
        repeat(2) { call() }
        assertEquals(OPEN, state)
    }

    @Test
    fun blockThatReturnsFromTheFunctionAroundIt_isASuccess() = runTest {
        val breaker = halfOpen()

        suspend fun find(): Int {
            breaker.protect {
                return 1
            }
        }
        repeat(2) { assertEquals(1, find()) }
        assertEquals(CLOSED, breaker.state)
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
        var reported = 0
        val handler = Thread.currentThread().uncaughtExceptionHandler
        Thread.currentThread().setUncaughtExceptionHandler { _, _ -> reported++ }
        try {
            val throwing = CircuitBreaker(config(testTimeSource, openFor = { throw IllegalStateException() }))
            throwing.failUntilOpen()
            assertEquals(300.seconds to 1, throwing.retryIn to reported)
        } finally {
            Thread.currentThread().uncaughtExceptionHandler = handler
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
