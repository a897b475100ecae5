package baton.stress

import baton.sync.Latch
import baton.sync.Mutex
import baton.sync.Semaphore
import baton.sync.withLock
import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.atomic.AtomicInteger
import kotlin.concurrent.thread
import kotlin.coroutines.Continuation
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.coroutines.intrinsics.COROUTINE_SUSPENDED
import kotlin.coroutines.intrinsics.startCoroutineUninterceptedOrReturn
import kotlin.coroutines.startCoroutine
import kotlinx.coroutines.Job
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Test

/** A canceller between the waiter's entry into the queue and the return of enqueue: the waiter was resumed twice. */
class CancelWhileEnqueuedStressTest {
    private val rounds = 10_000

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
            Triple("0 false", { lock.withLock(this) { condition.await() } }) { "${condition.waiting} ${lock.isLocked}" },
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

/**
 * One thread acquires the only permit while another gives it back, is refused by tryAcquire, and acquires. No order
 * explains a refusal after which that thread has the permit at once while the first one waits.
 */
class TryAcquireStressTest {
    private class Call(private val semaphore: Semaphore) {
        private val resumed = AtomicBoolean()

        fun acquire(): Boolean {
            val body: suspend () -> Unit = { semaphore.acquire() }
            val done = Continuation<Unit>(EmptyCoroutineContext) { resumed.set(true) }
            val isAtOnce = body.startCoroutineUninterceptedOrReturn(done) !== COROUTINE_SUSPENDED
            if (isAtOnce) resumed.set(true)
            return isAtOnce
        }

        val hasPermit: Boolean
            get() = resumed.get()
    }

    @Test
    fun tryAcquire_refusedAfterRelease_permitIsHeldOrWaitedFor() {
        // The threads spin: woken from a barrier, they would come too far apart to meet.
        val begun = AtomicInteger()
        val ended = AtomicInteger()
        lateinit var semaphore: Semaphore
        lateinit var other: Call
        var lies = 0
        val helper = thread {
            for (round in 1..ROUNDS) {
                while (begun.get() < round) Thread.onSpinWait()
                other.acquire()
                ended.set(round)
            }
        }
        for (round in 1..ROUNDS) {
            semaphore = Semaphore(1, acquired = 1)
            other = Call(semaphore)
            begun.set(round)
            repeat(round % SPINS) { Thread.onSpinWait() }
            semaphore.release()
            val isRefused = !semaphore.tryAcquire()
            val atOnce = isRefused && Call(semaphore).acquire()
            while (ended.get() < round) Thread.onSpinWait()
            if (atOnce && !other.hasPermit) lies++
        }
        helper.join()
        assertEquals(0, lies)
    }

    private companion object {
        const val ROUNDS = 100_000
        const val SPINS = 200
    }
}
