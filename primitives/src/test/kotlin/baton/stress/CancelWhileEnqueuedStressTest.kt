package baton.stress

import baton.sync.Latch
import baton.sync.Mutex
import baton.sync.Semaphore
import baton.sync.withLock
import java.util.concurrent.atomic.AtomicInteger
import kotlin.concurrent.thread
import kotlin.coroutines.Continuation
import kotlin.coroutines.startCoroutine
import kotlinx.coroutines.Job
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Test

/** A canceller between the waiter's entry into the queue and the return of enqueue: the waiter was resumed twice. */
class CancelWhileEnqueuedStressTest {
    private val rounds = 30_000

    @Test
    fun acquire_cancelledWhileItIsEnqueued_isResumedOnce() {
        val semaphore = Semaphore(2, acquired = 2)
        race { semaphore.acquire() }
        race { semaphore.acquire(2) }
        assertEquals(0, semaphore.waiting)
    }

    @Test
    fun awaitIdle_cancelledWhileItIsEnqueued_isResumedOnce() {
        val semaphore = Semaphore(1, acquired = 1)
        race { semaphore.awaitIdle() }
        semaphore.release()
        assertEquals(1, semaphore.availablePermits)
    }

    @Test
    fun lock_cancelledWhileItIsEnqueued_isResumedOnce() {
        val mutex = Mutex(locked = true)
        race { mutex.lock() }
        assertEquals(0, mutex.waiting)
        mutex.unlock()
        assertFalse(mutex.isLocked)
    }

    @Test
    fun await_cancelledWhileItIsEnqueued_isResumedOnce() {
        val latch = Latch(1)
        race { latch.await() }
        assertEquals(0, latch.waiting)
        assertEquals(1, latch.count)
    }

    @Test
    fun awaitSignal_cancelledWhileItIsEnqueued_isResumedOnce() {
        val mutex = Mutex()
        val condition = mutex.newCondition()
        race { mutex.withLock(this) { condition.await() } }
        assertEquals(0, condition.waiting)
        assertFalse(mutex.isLocked)
    }

    private fun race(request: suspend () -> Unit) {
        val turn = AtomicInteger()
        var before = AtomicInteger(1)
        val jobs = Array(rounds + 1) { Job() }
        val canceller =
            thread(isDaemon = true) {
                for (round in 1..rounds) {
                    while (turn.get() != 2 * round - 1) Thread.yield()
                    turn.set(2 * round)
                    repeat(round % 64) { Thread.onSpinWait() }
                    jobs[round].cancel()
                }
            }
        // A second resumption of a coroutine that has ended is an exception on the canceller's thread.
        var failure: Throwable? = null
        canceller.setUncaughtExceptionHandler { _, e -> failure = e }
        for (round in 1..rounds) {
            val resumed = AtomicInteger()
            turn.set(2 * round - 1)
            while (turn.get() != 2 * round) Thread.yield()
            // The canceller has done with the round before.
            assertEquals(1, before.get(), "round ${round - 1}")
            failure?.let { throw AssertionError("round ${round - 1}", it) }
            request.startCoroutine(Continuation(jobs[round]) { resumed.incrementAndGet() })
            while (resumed.get() == 0) Thread.yield()
            before = resumed
        }
        canceller.join()
        assertEquals(1, before.get())
        assertNull(failure)
    }
}
