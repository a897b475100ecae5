package baton.resilience.breaker

import baton.resilience.BreakerState.CLOSED
import baton.resilience.BreakerState.HALF_OPEN
import baton.resilience.BreakerState.OPEN
import baton.resilience.CircuitBreaker
import baton.resilience.CircuitOpenException
import java.io.IOException
import java.util.concurrent.CyclicBarrier
import java.util.concurrent.atomic.AtomicInteger
import kotlin.concurrent.thread
import kotlin.time.Duration.Companion.seconds
import kotlin.time.TestTimeSource
import kotlinx.coroutines.TimeoutCancellationException
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.test.testTimeSource
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** Faults that other breakers have had, each with the name of its report. */
@OptIn(kotlinx.coroutines.ExperimentalCoroutinesApi::class)
internal class BreakerHistoryTest {
    /** resilience4j #903, #935: the permission of a probe whose result never comes is never returned. */
    @Test
    fun probesThatNeverReport_doNotKeepTheBreakerHalfOpen() = runTest {
        val breaker = CircuitBreaker(config(testTimeSource))
        breaker.failUntilOpen()
        delay(10.seconds)
        val hanging = List(2) { launch { breaker.protect { awaitCancellation() } } }
        runCurrent()
        repeat(3) {
            assertEquals(5.seconds, breaker.refuse())
            delay(5.seconds)
            repeat(2) { breaker.enter(breaker.start()) }
        }
        delay(5.seconds)
        repeat(2) { breaker.succeed() }
        assertEquals(CLOSED, breaker.state)
        hanging.forEach { it.cancelAndJoin() }
    }

    /** resilience4j #544: a probe that ends with an exception that is ignored keeps its permission. */
    @Test
    fun probeWithAnExceptionThatIsNoFailure_isBack() = runTest {
        val breaker = CircuitBreaker(config(testTimeSource, isFailure = { it is IOException }))
        breaker.failUntilOpen()
        delay(10.seconds)
        repeat(2) { assertThrows<IllegalStateException> { breaker.protect { error("ignored") } } }
        assertEquals(CLOSED, breaker.state)
    }

    /** resilience4j #1432: the thread that makes it half open is let in besides the permitted ones. */
    @Test
    fun sixteenThreads_atTheEndOfOpen_exactlyTheProbesAreLetIn() {
        val clock = TestTimeSource()
        val breaker = CircuitBreaker(config(clock, probes = 5))
        val letIn = AtomicInteger()
        val start = CyclicBarrier(16)
        val end =
            CyclicBarrier(16) {
                assertEquals(5 to HALF_OPEN, letIn.getAndSet(0) to breaker.state)
                breaker.reset()
            }
        runBlocking { breaker.failUntilOpen() }
        clock += 10.seconds
        val failed = AtomicInteger()
        val threads =
            List(16) { number ->
                thread {
                    try {
                        repeat(500) {
                            start.await()
                            try {
                                breaker.enter(breaker.start())
                                letIn.incrementAndGet()
                            } catch (_: CircuitOpenException) {}
                            end.await()
                            if (number == 0) {
                                runBlocking { breaker.failUntilOpen() }
                                clock += 10.seconds
                            }
                        }
                    } catch (_: Throwable) {
                        failed.incrementAndGet()
                    }
                }
            }
        threads.forEach { it.join() }
        assertEquals(0, failed.get())
    }

    /** resilience4j #1624, #682: a timeout is taken for a cancellation because of its type, or the other way round. */
    @Test
    fun timeoutInsideTheBlock_followsIsFailure() = runTest {
        for (isFailure in listOf(true, false)) {
            val breaker =
                CircuitBreaker(config(testTimeSource, isFailure = { it is TimeoutCancellationException == isFailure }))
            repeat(2) {
                assertThrows<TimeoutCancellationException> {
                    breaker.protect { withTimeout(1) { awaitCancellation() } }
                }
            }
            assertEquals(if (isFailure) OPEN else CLOSED, breaker.state)
            assertEquals(2, breaker.metrics.calls)
        }
    }

    /** monix #1080: an attempt to close that is cancelled by a timeout leaves the breaker waiting for it. */
    @Test
    fun probeCancelledByATimeout_letsTheNextOneTry() = runTest {
        val breaker = CircuitBreaker(config(testTimeSource, probes = 1))
        breaker.failUntilOpen()
        delay(10.seconds)
        assertThrows<TimeoutCancellationException> { withTimeout(1) { breaker.protect { awaitCancellation() } } }
        assertEquals(HALF_OPEN, breaker.state)
        breaker.succeed()
        assertEquals(CLOSED, breaker.state)
    }

    /** smallrye-fault-tolerance #319: more trial requests than configured while it is half open. */
    @Test
    fun halfOpen_withItsProbesOut_refusesTheRest() = runTest {
        val breaker = CircuitBreaker(config(testTimeSource, probes = 3))
        breaker.failUntilOpen()
        delay(10.seconds)
        val probes = List(3) { launch { breaker.protect { delay(1.seconds) } } }
        runCurrent()
        repeat(50) { breaker.refuse() }
        probes.forEach { it.join() }
        assertEquals(CLOSED to 50L, breaker.state to breaker.metrics.rejected)
    }

    /** opossum #57: calls that come while the first one is about to close it. */
    @Test
    fun callsWhileAProbeIsOut_doNotKeepItFromClosing() = runTest {
        val breaker = CircuitBreaker(config(testTimeSource, probes = 1))
        breaker.failUntilOpen()
        delay(10.seconds)
        val probe = launch { breaker.protect { delay(1.seconds) } }
        runCurrent()
        repeat(3) { breaker.refuse() }
        probe.join()
        repeat(3) { breaker.succeed() }
        assertEquals(CLOSED, breaker.state)
    }
}
