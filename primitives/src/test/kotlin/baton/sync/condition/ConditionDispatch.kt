package baton.sync.condition

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

/** Coroutines in uncommon worlds: no job, no dispatcher, one that runs at once, one that does not run at all. */
interface ConditionDispatch : ConditionFixture {
    @Test
    fun await_noJobAndNoDispatcher_isResumedByTheUnlocker() {
        val condition = condition()
        var result: Result<Unit>? = null
        suspend { condition.mutex.lock("t1").also { condition.await() } }
            .startCoroutine(Continuation(EmptyCoroutineContext) { result = it })
        assertTrue(condition.mutex.tryLock())
        condition.signal()
        assertNull(result)
        condition.mutex.unlock()
        assertTrue(result?.isSuccess == true)
        assertEquals("t1", condition.mutex.holder)
    }

    @Test
    fun signalAll_noDispatcherAndWaitersUnlockAtOnce_runsTheWholeLine() {
        val condition = condition()
        val served = mutableListOf<Int>()
        for (i in 0..99) {
            suspend {
                condition.mutex.lock()
                condition.await()
                served += i
                condition.mutex.unlock()
            }.startCoroutine(Continuation(EmptyCoroutineContext) { it.getOrThrow() })
        }
        assertTrue(condition.mutex.tryLock())
        condition.signalAll()
        condition.mutex.unlock()
        assertEquals((0..99).toList(), served)
        assertState(condition, isLocked = false)
    }

    @Test
    fun await_unconfined_isResumedByTheUnlocker() =
        runTest {
            val condition = condition()
            val waiter = Callers(this).callAtOnce(context = Dispatchers.Unconfined) { condition.visit() }
            condition.mutex.lock()
            condition.signal()
            assertTrue(waiter.isWaiting)
            condition.mutex.unlock()
            assertTrue(waiter.isServed)
        }

    @Test
    fun cancel_unconfinedAndMutexIsFree_throwsAtOnceHoldingTheMutex() =
        runTest {
            val condition = condition()
            val waiter =
                Callers(this).callAtOnce(context = Dispatchers.Unconfined) {
                    condition.mutex.lock("a")
                    condition.await()
                }
            waiter.cancel()
            assertTrue(waiter.isCancelled)
            assertEquals("a", condition.mutex.holder)
        }

    /** The waiter still returns with the mutex, on another thread; but it cannot use the signal. */
    @Test
    fun unlock_dispatcherThrows_waiterUnwindsWithTheMutexAndSignalGoesToTheNext() =
        runTest {
            val dead = DyingDispatcher()
            val callers = Callers(this)
            val condition = condition()
            val waiter = callers.callAtOnce("dead", dead) { condition.visit("dead") }
            callers.visitor(condition, "next")
            condition.mutex.lock()
            condition.signal()
            dead.isDead = true
            condition.mutex.unlock()
            while (callers.served.isEmpty()) Thread.onSpinWait().also { runCurrent() }
            assertEquals(listOf("next"), callers.served)
            assertTrue(waiter.isCancelled)
            assertState(condition, isLocked = false)
        }

    @Test
    fun unlock_executorWasShutDown_waiterUnwindsWithTheMutexAndSignalGoesToTheNext() =
        runTest {
            val executor = Executors.newSingleThreadExecutor()
            val condition = condition()
            val callers = Callers(this)
            val dead = callers.callAtOnce("dead", executor.asCoroutineDispatcher()) { condition.visit("dead") }
            callers.visitor(condition, "next")
            executor.shutdown()
            condition.lockAndSignal()
            dead.job.join()
            runCurrent()
            assertTrue(dead.isCancelled)
            assertEquals(listOf("next"), callers.served)
            assertState(condition, isLocked = false)
        }
}
