package baton.resilience.breaker

import baton.resilience.BreakerState.CLOSED
import baton.resilience.BreakerState.OPEN
import baton.resilience.CircuitBreaker
import java.io.IOException
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.test.testTimeSource
import kotlinx.coroutines.withTimeout
import kotlinx.coroutines.withTimeoutOrNull
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** The ends of calls that count as successes, as failures, or not at all. */
@OptIn(ExperimentalCoroutinesApi::class)
internal class CountedCallsTest {
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
        breaker.leave(call, breaker.start(), breaker.unjudged)
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
}
