package baton.resilience.breaker

import baton.reportingTo
import baton.resilience.BreakerState
import baton.resilience.BreakerState.CLOSED
import baton.resilience.BreakerState.DISABLED
import baton.resilience.BreakerState.FORCED_OPEN
import baton.resilience.BreakerState.HALF_OPEN
import baton.resilience.BreakerState.OPEN
import baton.resilience.CircuitBreaker
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import kotlin.concurrent.thread
import kotlin.time.Duration.Companion.seconds
import kotlin.time.TestTimeSource
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class ChangeListenersTest {
    private val clock = TestTimeSource()
    private val breaker = CircuitBreaker(config(clock))
    private val changes = ConcurrentLinkedQueue<Pair<BreakerState, BreakerState>>()

    private fun listen() = breaker.onChange { from, to -> changes += from to to }

    @Test
    fun listener_hearsOfEachChange_untilItIsClosed() = runBlocking {
        val listening = listen()
        breaker.failUntilOpen()
        clock += 10.seconds
        breaker.fail()
        clock += 10.seconds
        repeat(2) { breaker.succeed() }
        breaker.reset()
        breaker.trip()
        breaker.trip()
        breaker.disable()
        breaker.reset()
        val all = listOf(CLOSED, OPEN, HALF_OPEN, OPEN, HALF_OPEN, CLOSED, FORCED_OPEN, DISABLED, CLOSED)
        assertEquals(all.zipWithNext(), changes.toList())
        listening.close()
        listening.close()
        breaker.trip()
        assertEquals(all.size - 1, changes.size)
    }

    @Test
    fun listener_thatThrows_harmsNoOther() {
        breaker.onChange { _, _ -> throw IllegalStateException("first") }
        breaker.onChange { _, _ -> throw AssertionError("second") }
        listen()
        val reported = mutableListOf<Throwable>()
        reportingTo(reported) { breaker.trip() }
        assertEquals(listOf(CLOSED to FORCED_OPEN), changes.toList())
        assertEquals(listOf("first", "second"), reported.map { it.message })
    }

    @Test
    fun listener_thatChangesTheState_hearsOfThatNext_onAFlatStack() {
        var left = 100_000
        breaker.onChange { from, to ->
            assertTrue(breaker.state == to)
            if (left-- > 0) if (from == CLOSED) breaker.reset() else breaker.trip()
        }
        listen()
        breaker.trip()
        assertEquals(100_001, changes.size)
        val chained = changes.zipWithNext().all { (one, next) -> one.second == next.first }
        assertTrue(chained)
    }

    @Test
    fun listener_closedByTheOneBeforeIt_isNotCalled() {
        lateinit var second: AutoCloseable
        breaker.onChange { _, _ -> second.close() }
        second = listen()
        breaker.trip()
        assertEquals(0, changes.size)
    }

    @Test
    fun listeners_areCalledAfterTheLock_andAfterTheWaiters() = runBlocking {
        breaker.trip()
        val order = mutableListOf<String>()
        launch(Dispatchers.Unconfined, CoroutineStart.UNDISPATCHED) {
            breaker.awaitClosed()
            order += "waiter"
        }
        breaker.onChange { _, _ ->
            order += "listener"
            thread { order += "${breaker.metrics.calls}" }.join()
        }
        breaker.reset()
        assertEquals(listOf("waiter", "listener", "0"), order)
    }

    @Test
    fun changesOfOtherThreads_areLeftToTheOneThatTells() {
        val inside = CountDownLatch(1)
        val goOn = CountDownLatch(1)
        breaker.onChange { _, to ->
            if (to != FORCED_OPEN) return@onChange
            inside.countDown()
            assertTrue(goOn.await(120, TimeUnit.SECONDS))
        }
        listen()
        val tells = thread { breaker.trip() }
        assertTrue(inside.await(120, TimeUnit.SECONDS))
        breaker.disable()
        breaker.reset()
        assertEquals(0, changes.size)
        goOn.countDown()
        tells.join()
        assertEquals(listOf(CLOSED, FORCED_OPEN, DISABLED, CLOSED).zipWithNext(), changes.toList())
    }
}
