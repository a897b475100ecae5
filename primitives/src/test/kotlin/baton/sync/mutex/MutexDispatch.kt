package baton.sync.mutex

import baton.sync.assertState
import baton.sync.countdown.assertState
import baton.sync.semaphore.contract.DyingDispatcher
import baton.waiting.Callers
import java.util.concurrent.Executors
import kotlin.coroutines.Continuation
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.coroutines.startCoroutine
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/**
 * Coroutines in uncommon worlds: no job, no dispatcher, a dispatcher that runs at once, one that does not run at all.
 */
interface MutexDispatch : MutexFixture {
    @Test
    fun lock_noJobAndNoDispatcher_isResumedByTheUnlocker() {
        val mutex = mutex(locked = true)
        var result: Result<Unit>? = null
        suspend { mutex.lock("t1") }.startCoroutine(Continuation(EmptyCoroutineContext) { result = it })
        assertNull(result)
        mutex.unlock()
        assertTrue(result?.isSuccess == true)
        assertEquals("t1", mutex.holder)
    }

    @Test
    fun unlock_noDispatcherAndWaiterUnlocksAgain_runsTheWholeQueue() {
        val mutex = mutex(locked = true)
        val served = mutableListOf<Int>()
        for (i in 0..99) {
            suspend {
                mutex.lock()
                served += i
                mutex.unlock()
            }.startCoroutine(Continuation(EmptyCoroutineContext) { it.getOrThrow() })
        }
        mutex.unlock()
        assertEquals((0..99).toList(), served)
        assertState(mutex, isLocked = false)
    }

    @Test
    fun lock_unconfined_isResumedByTheUnlocker() =
        runTest {
            val mutex = mutex(locked = true)
            val waiter = Callers(this).callAtOnce(context = Dispatchers.Unconfined) { mutex.lock() }
            assertTrue(waiter.isWaiting)
            mutex.unlock()
            assertTrue(waiter.isServed)
        }

    @Test
    fun unlock_dispatcherThrows_mutexGoesToTheNext() =
        runTest {
            val dead = DyingDispatcher()
            val callers = Callers(this)
            val mutex = mutex(locked = true)
            callers.callAtOnce("dead", dead) { mutex.lock("dead") }
            callers.call("next") { mutex.lock("next") }
            dead.isDead = true
            mutex.unlock()
            while (callers.served.isEmpty()) Thread.onSpinWait().also { runCurrent() }
            assertEquals(listOf("next"), callers.served)
            assertEquals("next", mutex.holder)
        }

    @Test
    fun unlock_executorWasShutDown_waiterIsCancelledAndMutexGoesToTheNext() =
        runTest {
            val executor = Executors.newSingleThreadExecutor()
            val mutex = mutex(locked = true)
            val dispatcher = executor.asCoroutineDispatcher()
            val dead = Callers(this).callAtOnce("dead", dispatcher) { mutex.lock("dead") }
            val next = Callers(this).call("next") { mutex.lock("next") }
            executor.shutdown()
            mutex.unlock()
            dead.job.join()
            runCurrent()
            assertTrue(dead.isCancelled)
            assertTrue(next.isServed)
            assertEquals("next", mutex.holder)
        }
}
