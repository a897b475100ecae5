package baton.sync.mutex

import baton.sync.assertState
import baton.sync.countdown.assertState
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
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** A cancelled caller throws and holds nothing, at whatever moment it was cancelled. */
interface MutexCancellation : MutexFixture {
    @Test
    fun cancel_onlyWaiter_throwsAndLeavesNothing() =
        runTest {
            val mutex = mutex(locked = true)
            val waiter = Callers(this).call { mutex.lock() }
            waiter.cancel()
            assertState(mutex, isLocked = true, waiting = 0)
            runCurrent()
            assertTrue(waiter.isCancelled)
            mutex.unlock()
            assertState(mutex, isLocked = false)
        }

    @Test
    fun cancel_anyOneOfFive_keepsTheOrderOfTheOthers() =
        runTest {
            for (leaver in 0..4) {
                val callers = Callers(this)
                val mutex = mutex(locked = true)
                val waiters = List(5) { i -> callers.call("$i") { mutex.lock() } }
                waiters[leaver].cancel()
                assertState(mutex, isLocked = true, waiting = 4)
                repeat(5) {
                    mutex.unlock()
                    runCurrent()
                }
                assertEquals((0..4).filter { it != leaver }.map { "$it" }, callers.served)
                assertState(mutex, isLocked = false)
            }
        }

    @Test
    fun cancel_allWaiters_mutexIsFreeAfterUnlock() =
        runTest {
            val mutex = mutex()
            mutex.lock("t1")
            val waiters = List(3) { Callers(this).call { mutex.lock("waiter") } }
            waiters.forEach { it.cancel() }
            runCurrent()
            assertTrue(waiters.all { it.isCancelled })
            assertEquals("t1", mutex.holder)
            mutex.unlock("t1")
            assertState(mutex, isLocked = false)
        }

    @Test
    fun cancel_betweenHandOverAndResumption_passesItOn() =
        runTest {
            val callers = Callers(this)
            val mutex = mutex(locked = true)
            val granted = callers.call("granted") { mutex.lock("a") }
            val next = callers.call("next") { mutex.lock("b") }
            mutex.unlock()
            granted.cancel()
            runCurrent()
            assertTrue(granted.isCancelled)
            assertTrue(next.isServed)
            assertEquals("b", mutex.holder)
            assertState(mutex, isLocked = true)
        }

    @Test
    fun cancel_betweenHandOverAndResumption_mutexIsElsewhereBeforeItThrows() =
        runTest {
            val mutex = mutex(locked = true)
            var seen: String? = null
            val granted =
                Callers(this).call {
                    try {
                        mutex.lock("a")
                    } catch (e: CancellationException) {
                        seen = "${mutex.holder}, waiting = ${mutex.waiting}"
                        throw e
                    }
                }
            Callers(this).call { mutex.lock("b") }
            Callers(this).call { mutex.lock("c") }
            mutex.unlock()
            granted.cancel()
            runCurrent()
            assertEquals("b, waiting = 1", seen)
        }

    @Test
    fun cancel_betweenHandOverAndResumptionAndNobodyWaits_isFree() =
        runTest {
            for (owner in listOf(null, "a")) {
                val mutex = mutex(locked = true)
                val granted = Callers(this).call { mutex.lock(owner) }
                mutex.unlock()
                granted.cancel()
                runCurrent()
                assertTrue(granted.isCancelled)
                assertState(mutex, isLocked = false)
                assertNull(mutex.holder)
                assertTrue(mutex.tryLock())
            }
        }

    @Test
    fun cancel_severalHandedOverInARow_lastOneGetsIt() =
        runTest {
            val callers = Callers(this)
            val mutex = mutex(locked = true)
            val first = callers.call("first") { mutex.lock() }
            val second = callers.call("second") { mutex.lock() }
            callers.call("third") { mutex.lock() }
            mutex.unlock()
            first.cancel()
            second.cancel()
            runCurrent()
            assertTrue(first.isCancelled && second.isCancelled)
            assertEquals(listOf("third"), callers.served)
            assertState(mutex, isLocked = true)
        }

    @Test
    fun cancel_holder_keepsTheMutexLocked() =
        runTest {
            val mutex = mutex(locked = true)
            val holder = Callers(this).call { mutex.lock() }
            mutex.unlock()
            runCurrent()
            holder.cancel()
            runCurrent()
            assertTrue(holder.isServed)
            assertState(mutex, isLocked = true)
        }

    @Test
    fun lock_alreadyCancelledAndFree_succeeds() =
        runTest {
            for (owner in listOf(null, "a")) {
                val mutex = mutex()
                val caller =
                    Callers(this).call {
                        currentCoroutineContext().job.cancel()
                        mutex.lock(owner)
                    }
                assertTrue(caller.isServed)
                assertState(mutex, isLocked = true)
            }
        }

    @Test
    fun lock_alreadyCancelledAndMustWait_throwsAndLeavesNothing() =
        runTest {
            for (owner in listOf(null, "a")) {
                val mutex = mutex(locked = true)
                val caller =
                    Callers(this).call {
                        currentCoroutineContext().job.cancel()
                        mutex.lock(owner)
                    }
                assertTrue(caller.isCancelled)
                assertState(mutex, isLocked = true)
                mutex.unlock()
                assertState(mutex, isLocked = false)
            }
        }

    @Test
    fun lock_nonCancellable_waitsOnAndIsServed() =
        runTest {
            val mutex = mutex(locked = true)
            val caller = Callers(this).call { withContext(NonCancellable) { mutex.lock("a") } }
            caller.cancel()
            runCurrent()
            assertTrue(caller.isWaiting)
            assertState(mutex, isLocked = true, waiting = 1)
            mutex.unlock()
            runCurrent()
            assertEquals("a", mutex.holder)
        }

    @Test
    fun lock_withinWithTimeout_leavesTheQueue() =
        runTest {
            val mutex = mutex(locked = true)
            assertNull(withTimeoutOrNull(50) { mutex.lock() })
            assertState(mutex, isLocked = true)
            mutex.unlock()
            assertState(mutex, isLocked = false)
        }

    @Test
    fun tryLock_whileCancelledReceiverStillHasIt_isRefused() =
        runTest {
            val mutex = mutex(locked = true)
            val granted = Callers(this).call { mutex.lock() }
            mutex.unlock()
            granted.cancel()
            assertFalse(mutex.tryLock() && mutex.tryLock())
            runCurrent()
            assertTrue(granted.isCancelled)
        }
}
