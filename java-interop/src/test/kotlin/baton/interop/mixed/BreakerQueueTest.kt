package baton.interop.mixed

import baton.interop.AsyncCircuitBreaker
import baton.resilience.CircuitBreaker
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.TimeUnit
import kotlin.concurrent.thread
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.launch
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Coroutines, futures and threads that await the closing of one breaker. */
class BreakerQueueTest {
    private val breaker = CircuitBreaker()
    private val java = AsyncCircuitBreaker.of(breaker)
    private val woken = ConcurrentLinkedQueue<String>()

    private fun coroutine(name: String) =
        CoroutineScope(Dispatchers.Unconfined).launch(start = CoroutineStart.UNDISPATCHED) {
            breaker.awaitClosed()
            woken += name
        }

    private fun future(name: String) = java.awaitClosed().thenRun { woken += name }

    private fun thread(name: String): Thread {
        val before = breaker.waiting
        val waits = thread {
            try {
                java.blocking().awaitClosed()
                woken += name
            } catch (_: InterruptedException) {}
        }
        while (breaker.waiting == before) Thread.onSpinWait()
        return waits
    }

    @Test
    fun waiters_ofAllKinds_areLetGoInOneStepAndInTheirOrder() {
        for (close in listOf(breaker::reset, breaker::disable)) {
            breaker.trip()
            woken.clear()
            coroutine("coroutine 1")
            future("future 1")
            val thread = thread("thread")
            future("future 2")
            coroutine("coroutine 2")
            assertEquals(5, breaker.waiting)
            close()
            assertEquals(0, breaker.waiting)
            thread.join()
            assertEquals(listOf("coroutine 1", "future 1", "future 2", "coroutine 2"), woken.filter { it != "thread" })
            assertTrue("thread" in woken)
        }
    }

    @Test
    fun waiters_thatLeave_doNotCount() {
        breaker.trip()
        val future = java.awaitClosed()
        val coroutine = coroutine("coroutine")
        val thread = thread("thread")
        assertEquals(3, java.waiting())
        assertTrue(future.cancel(true))
        coroutine.cancel()
        thread.interrupt()
        thread.join(TimeUnit.SECONDS.toMillis(120))
        assertEquals(0, java.waiting())
        breaker.reset()
        assertEquals(emptyList<String>(), woken.toList())
    }

    @Test
    fun waiter_thatTripsAgain_doesNotStopThoseBehindIt() {
        breaker.trip()
        java.awaitClosed().thenRun {
            woken += "trips"
            breaker.trip()
        }
        future("behind")
        breaker.reset()
        assertEquals(listOf("trips", "behind"), woken.toList())
        assertEquals(0, breaker.waiting)
    }
}
