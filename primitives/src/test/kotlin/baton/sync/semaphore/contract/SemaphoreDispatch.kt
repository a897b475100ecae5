package baton.sync.semaphore.contract

import baton.sync.SemaphoreClosedException
import baton.sync.assertState
import baton.sync.countdown.assertState
import baton.waiting.Callers
import java.util.concurrent.Executors
import java.util.concurrent.RejectedExecutionException
import kotlin.coroutines.Continuation
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.coroutines.startCoroutine
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/**
 * Coroutines in uncommon worlds: no job, no dispatcher, a dispatcher that runs at once, one that does not run at all.
 */
interface SemaphoreDispatch : SemaphoreFixture {
    @Test
    fun acquire_noJobAndNoDispatcher_isResumedByTheReleaser() {
        val semaphore = semaphore(1, acquired = 1)
        var result: Result<Unit>? = null
        suspend { semaphore.acquire() }.startCoroutine(Continuation(EmptyCoroutineContext) { result = it })
        assertNull(result)
        assertState(semaphore, available = 0, waiting = 1)
        semaphore.release()
        assertTrue(result?.isSuccess == true)
        assertState(semaphore, available = 0)
    }

    @Test
    fun close_noJobAndNoDispatcher_isThrownIntoTheWaiter() {
        val semaphore = semaphore(1, acquired = 1)
        var result: Result<Unit>? = null
        suspend { semaphore.acquire() }.startCoroutine(Continuation(EmptyCoroutineContext) { result = it })
        semaphore.close()
        assertTrue(result?.exceptionOrNull() is SemaphoreClosedException)
    }

    @Test
    fun release_noDispatcherAndWaiterReleasesAgain_runsTheWholeQueue() {
        val semaphore = semaphore(1, acquired = 1)
        val served = mutableListOf<Int>()
        for (i in 0..99) {
            suspend {
                semaphore.acquire()
                served += i
                semaphore.release()
            }.startCoroutine(Continuation(EmptyCoroutineContext) { it.getOrThrow() })
        }
        semaphore.release()
        assertEquals((0..99).toList(), served)
        assertState(semaphore, available = 1)
    }

    @Test
    fun acquire_unconfined_isResumedByTheReleaser() =
        runTest {
            val semaphore = semaphore(1, acquired = 1)
            val waiter = Callers(this).callAtOnce(context = Dispatchers.Unconfined) { semaphore.acquire() }
            assertTrue(waiter.isWaiting)
            semaphore.release()
            assertTrue(waiter.isServed)
        }

    @Test
    fun cancel_unconfined_throwsOnTheCancellersStack() =
        runTest {
            val semaphore = semaphore(2, acquired = 1)
            val heavy = Callers(this).callAtOnce(context = Dispatchers.Unconfined) { semaphore.acquire(2) }
            val small = Callers(this).callAtOnce(context = Dispatchers.Unconfined) { semaphore.acquire() }
            heavy.cancel()
            assertTrue(heavy.isCancelled)
            assertTrue(small.isServed)
            assertState(semaphore, available = 0)
        }

    @Test
    fun release_dispatcherThrows_permitGoesToTheNext() =
        runTest {
            val dead = DyingDispatcher()
            val callers = Callers(this)
            val semaphore = semaphore(2, acquired = 2)
            callers.callAtOnce("dead", dead) { semaphore.acquire(2) }
            callers.call("a") { semaphore.acquire() }
            callers.call("b") { semaphore.acquire() }
            assertState(semaphore, available = 0, waiting = 3)
            dead.isDead = true
            semaphore.release(2)
            while (callers.served.size < 2) Thread.onSpinWait().also { runCurrent() }
            assertEquals(listOf("a", "b"), callers.served)
            assertState(semaphore, available = 0)
        }

    @Test
    fun release_dispatcherThrowsAndNobodyElseWaits_permitIsAvailable() =
        runTest {
            val dead = DyingDispatcher()
            val semaphore = semaphore(2, acquired = 2)
            val caller = Callers(this).callAtOnce("dead", dead) { semaphore.acquire() }
            dead.isDead = true
            semaphore.release()
            while (semaphore.available == 0) Thread.onSpinWait()
            assertFalse(caller.isServed)
            assertState(semaphore, available = 1)
        }

    @Test
    fun release_executorWasShutDown_waiterIsCancelledAndPermitGoesToTheNext() =
        runTest {
            val executor = Executors.newSingleThreadExecutor()
            val dispatcher = executor.asCoroutineDispatcher()
            val semaphore = semaphore(1, acquired = 1)
            val dead = Callers(this).callAtOnce("dead", dispatcher) { semaphore.acquire() }
            val next = Callers(this).call("next") { semaphore.acquire() }
            executor.shutdown()
            semaphore.release()
            dead.job.join()
            runCurrent()
            assertTrue(dead.isCancelled)
            assertTrue(next.isServed)
            assertState(semaphore, available = 0)
        }
}

/** Runs its coroutines at once, until it dies. */
internal class DyingDispatcher : CoroutineDispatcher() {
    @Volatile
    var isDead = false

    override fun dispatch(context: CoroutineContext, block: Runnable) {
        if (isDead) throw RejectedExecutionException("dead") else block.run()
    }
}
