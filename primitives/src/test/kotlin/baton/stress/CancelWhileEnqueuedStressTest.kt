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
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Test

/** A canceller between the waiter's entry into the queue and the return of enqueue: the waiter was resumed twice. */
class CancelWhileEnqueuedStressTest {
    private val rounds = 30_000

    /** The requests, and the state that they must leave. */
    private fun requests(): List<Triple<String, suspend () -> Unit, () -> Any>> {
        val semaphore = Semaphore(2, acquired = 2)
        val mutex = Mutex(locked = true)
        val latch = Latch(1)
        val lock = Mutex()
        val condition = lock.newCondition()
        return listOf(
            Triple("0 0", { semaphore.acquire() }, { "${semaphore.waiting} ${semaphore.availablePermits}" }),
            Triple("0 0", { semaphore.acquire(2) }, { "${semaphore.waiting} ${semaphore.availablePermits}" }),
            Triple("0 0", { semaphore.awaitIdle() }, { "${semaphore.waiting} ${semaphore.availablePermits}" }),
            Triple("0 false", { mutex.lock() }, { mutex.unlock().let { "${mutex.waiting} ${mutex.isLocked}" } }),
            Triple("0 1", { latch.await() }, { "${latch.waiting} ${latch.count}" }),
            Triple("0 false", { lock.withLock(this) { condition.await() } }) {
                "${condition.waiting} ${lock.isLocked}"
            },
        )
    }

    @Test
    fun requests_cancelledWhileTheyAreEnqueued_areResumedOnce() {
        for ((left, request, state) in requests()) {
            race(request)
            assertEquals(left, state())
        }
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
