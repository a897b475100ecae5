package baton.stress.resilience

import baton.resilience.Backoff
import baton.resilience.BreakerState
import baton.resilience.CircuitBreaker
import baton.resilience.CircuitBreakerConfig
import baton.resilience.CircuitOpenException
import baton.resilience.SlidingWindow
import baton.stress.Stress
import java.io.IOException
import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.AtomicLong
import kotlin.concurrent.thread
import kotlin.time.Duration.Companion.days
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.nanoseconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNotEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class BreakerStressTest : Stress() {
    /** Opens at one failure, for a nanosecond. */
    private fun config(probes: Int) =
        CircuitBreakerConfig(
            SlidingWindow.Calls(4),
            minimumCalls = 1,
            openFor = Backoff.constant(1.nanoseconds),
            maxOpenFor = 1.nanoseconds,
            probes = probes,
            probeTimeout = 1.days,
        )

    private suspend fun protectOrYield(breaker: CircuitBreaker, block: suspend () -> Unit) {
        try {
            breaker.protect { block() }
        } catch (_: CircuitOpenException) {
            yield()
        } catch (_: IOException) {}
    }

    /** No probe ends with a result, so the breaker stays half open, and all places are free in the end. */
    @Test
    fun halfOpen_underCancellation_letsInSoManyAtATime() {
        val breaker = CircuitBreaker(config(PROBES))
        val inside = AtomicInteger()
        val most = AtomicInteger()
        val letIn = AtomicInteger()
        stress(breaker) {
            protectOrYield(breaker) { throw IOException() }
            crowd(CROWD, { letIn.get() < CALLS }, 5.milliseconds) {
                    protectOrYield(breaker) {
                        most.accumulateAndGet(inside.incrementAndGet(), ::maxOf)
                        letIn.incrementAndGet()
                        try {
                            yieldUpTo(3)
                            throw CancellationException("the caller gives up")
                        } finally {
                            inside.decrementAndGet()
                        }
                    }
                }
                .joinAll()
            assertEquals(BreakerState.HALF_OPEN, breaker.state)
            repeat(PROBES) { breaker.protect {} }
        }
        assertEquals(PROBES, most.get())
        assertEquals(BreakerState.CLOSED, breaker.state)
    }

    /** Results, cancels and control from all threads; the listener counts from outside. */
    @Test
    fun crowd_thatOpensTripsAndCloses_tellsOfEachChange() {
        val uses = AtomicLong()
        val breaker = CircuitBreaker(config(PROBES))
        // The listener is called by one thread after the other, so these need no guard of their own.
        var state = breaker.state
        var changes = 0
        var gaps = 0
        breaker.onChange { from, to ->
            if (from != state || to == from) gaps++
            state = to
            changes++
        }
        val isOver = AtomicBoolean()
        stress(breaker) {
            val waiters =
                List(CROWD) {
                    launch {
                        while (!isOver.get()) {
                            if (chance(5)) breaker.awaitClosed() else breaker.awaitClosed(soon())
                            yield()
                        }
                    }
                }
            crowd(CROWD, { uses.incrementAndGet() < CALLS }, 5.milliseconds) {
                    when (random.nextInt(40)) {
                        0 -> breaker.trip()
                        1 -> breaker.disable()
                        2,
                        3 -> breaker.reset()
                        else ->
                            protectOrYield(breaker) {
                                yieldSometimes()
                                if (chance(2)) throw IOException()
                            }
                    }
                }
                .joinAll()
            isOver.set(true)
            breaker.reset()
            waiters.joinAll()
        }
        assertEquals(0, breaker.waiting)
        assertEquals(0, gaps)
        assertEquals(breaker.state, state)
        assertTrue(changes > CALLS / 100) { "only $changes changes" }
    }

    /** The passage of the old state was still open when the new state could be seen. */
    @Test
    fun call_afterTheTripIsSeen_isRefused() {
        val breaker = CircuitBreaker()
        val resets = AtomicInteger() // odd during a reset
        val isOver = AtomicBoolean()
        val trips = thread {
            while (!isOver.get()) {
                breaker.trip()
                Thread.onSpinWait()
                resets.incrementAndGet()
                breaker.reset()
                resets.incrementAndGet()
            }
        }
        var refused = 0
        try {
            while (refused < REFUSALS) {
                val before = resets.get()
                if (before % 2 == 1 || breaker.state != BreakerState.FORCED_OPEN) continue
                try {
                    breaker.enter(breaker.start())
                    assertNotEquals(before, resets.get(), "let in after the trip")
                } catch (_: CircuitOpenException) {
                    refused++
                }
            }
        } finally {
            isOver.set(true)
            trips.join()
        }
    }

    private companion object {
        const val CROWD = 8
        const val PROBES = 3
        const val CALLS = 20_000
        const val REFUSALS = 10_000
    }
}
