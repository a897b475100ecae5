package baton.sync.condition

import baton.sync.assertContains
import baton.sync.assertState
import baton.sync.countdown.assertState
import baton.sync.readwrite.contract.cancelled
import baton.waiting.Callers
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.job
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeoutOrNull
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** A cancelled coroutine gets the mutex back before it throws; a cancelled future does not. */
interface ConditionReturn : ConditionFixture {
    @Test
    fun cancel_mutexIsFree_holdsItWhenItThrows() =
        runTest {
            for (owner in listOf(null, "a")) {
                val condition = condition()
                val waiter =
                    Callers(this).call {
                        condition.mutex.lock(owner)
                        condition.await()
                    }
                waiter.cancel()
                assertState(condition, isLocked = true)
                assertEquals(owner, condition.mutex.holder)
                runCurrent()
                assertTrue(waiter.isCancelled)
                assertState(condition, isLocked = true)
                condition.mutex.unlock(owner)
            }
        }

    @Test
    fun cancel_mutexIsHeld_waitsForItBeforeItThrows() =
        runTest {
            val condition = condition()
            val mutex = condition.mutex
            val waiter = Callers(this).call { mutex.lock("a").also { condition.await() } }
            mutex.lock("b")
            waiter.cancel()
            runCurrent()
            assertTrue(waiter.isWaiting)
            assertState(condition, isLocked = true, queued = 1)
            mutex.unlock("b")
            assertEquals("a", mutex.holder)
            runCurrent()
            assertTrue(waiter.isCancelled)
            mutex.unlock("a")
        }

    @Test
    fun cancel_whileOthersQueue_goesToTheEndOfTheQueue() =
        runTest {
            val callers = Callers(this)
            val condition = condition()
            val log = mutableListOf<String>()
            val waiter =
                callers.call {
                    try {
                        condition.visit()
                    } finally {
                        log += "cancelled"
                    }
                }
            condition.mutex.lock()
            callers.call { condition.mutex.lock().also { log += "before" }.also { condition.mutex.unlock() } }
            waiter.cancel()
            callers.call { condition.mutex.lock().also { log += "after" }.also { condition.mutex.unlock() } }
            condition.mutex.unlock()
            runCurrent()
            assertEquals(listOf("before", "cancelled", "after"), log)
        }

    @Test
    fun cancel_betweenHandOverAndResumption_signalGoesToTheNext() =
        runTest {
            val callers = Callers(this)
            val condition = condition()
            val signalled = callers.visitor(condition, "signalled", owner = "a")
            callers.visitor(condition, "next")
            condition.lockAndSignal()
            assertEquals("a", condition.mutex.holder)
            signalled.cancel()
            runCurrent()
            assertTrue(signalled.isCancelled)
            assertEquals(listOf("next"), callers.served)
            assertState(condition, isLocked = false)
        }

    @Test
    fun cancel_signalled_signalIsElsewhereBeforeItThrows() =
        runTest {
            val callers = Callers(this)
            val condition = condition()
            var seen: String? = null
            val signalled =
                callers.call("signalled") {
                    condition.mutex.lock()
                    try {
                        condition.await()
                    } catch (e: CancellationException) {
                        seen = "queued = ${condition.mutex.waiting}, waiting = ${condition.waiting}"
                        throw e
                    }
                }
            repeat(2) { callers.visitor(condition) }
            condition.lockAndSignal()
            signalled.cancel()
            runCurrent()
            assertEquals("queued = 1, waiting = 1", seen)
        }

    @Test
    fun await_alreadyCancelled_throwsAtOnceAndKeepsTheMutex() =
        runTest {
            for (owner in listOf(null, "a")) {
                val condition = condition()
                val caller =
                    Callers(this).callAtOnce {
                        condition.mutex.lock(owner)
                        currentCoroutineContext().job.cancel()
                        Callers(this).callAtOnce { condition.mutex.lock("next") }
                        condition.await()
                    }
                assertTrue(caller.isCancelled)
                assertEquals(owner, condition.mutex.holder)
                assertState(condition, isLocked = true, queued = 1)
                condition.mutex.unlock(owner)
                assertEquals("next", condition.mutex.holder)
            }
        }

    @Test
    fun await_alreadyCancelledAndMutexIsFree_isMisuseAllTheSame() =
        runTest {
            val condition = condition()
            val caller =
                Callers(this).call {
                    currentCoroutineContext().job.cancel()
                    assertContains(assertThrows<IllegalStateException> { condition.await() }.message, "await")
                }
            assertTrue(caller.isServed)
            assertState(condition, isLocked = false)
        }

    @Test
    fun cancel_whileTheSameOwnerHolds_isNotLockingTwice() =
        runTest {
            val condition = condition()
            val waiter = Callers(this).visitor(condition, owner = "team")
            condition.mutex.lock("team")
            waiter.cancel()
            runCurrent()
            condition.mutex.unlock("team")
            runCurrent()
            assertTrue(waiter.isCancelled)
            assertState(condition, isLocked = false)
        }

    @Test
    fun await_nonCancellable_waitsOnAndIsServed() =
        runTest {
            val condition = condition()
            val caller = Callers(this).call { withContext(NonCancellable) { condition.visit() } }
            caller.cancel()
            runCurrent()
            assertTrue(caller.isWaiting)
            assertState(condition, isLocked = false, waiting = 1)
            condition.lockAndSignal()
            runCurrent()
            assertState(condition, isLocked = false)
        }

    @Test
    fun await_withinWithTimeout_holdsTheMutexAfterIt() =
        runTest {
            val condition = condition()
            condition.mutex.lock("a")
            assertNull(withTimeoutOrNull(50) { condition.await() })
            assertEquals("a", condition.mutex.holder)
            assertState(condition, isLocked = true)
        }

    /** No caller may unlock for another. If one does, the returning waiter still finds a consistent mutex. */
    @Test
    fun unlock_bySomebodyElseBeforeTheReturn_signalIsStillPassedOn() =
        runTest {
            val callers = Callers(this)
            val condition = condition()
            val signalled =
                callers.call("signalled") {
                    condition.mutex.lock()
                    condition.await()
                }
            callers.visitor(condition, "next")
            condition.lockAndSignal()
            condition.mutex.unlock()
            signalled.cancel()
            runCurrent()
            assertTrue(signalled.isCancelled)
            assertEquals(listOf("next"), callers.served)
            assertState(condition, isLocked = false)
        }
}
