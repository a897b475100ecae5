package baton.sync.mutex

import baton.NOW_OR_NEVER
import baton.sync.Mutex
import baton.sync.semaphore.contract.DyingDispatcher
import baton.sync.withLock
import baton.waiting.Callers
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withTimeoutOrNull
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Assertions.fail
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** A mutex that is unlocked however the block ends; and the promises of the suspend functions of a mutex alone. */
class WithLockTest {
    private val mutex = Mutex(name = "account")

    @Test
    fun withLock_blockReturns_unlocksAndReturnsItsValue() =
        runTest {
            assertEquals(true, mutex.withLock { mutex.isLocked })
            assertEquals("t1", mutex.withLock(owner = "t1") { mutex.holder })
            assertFalse(mutex.isLocked)
        }

    @Test
    fun withLock_blockThrows_unlocksAndThrowsIt() =
        runTest {
            val failure = RuntimeException("from the block")
            assertSame(failure, assertThrows<RuntimeException> { mutex.withLock("t1") { throw failure } })
            assertFalse(mutex.isLocked)
        }

    @Test
    fun withLock_blockIsCancelled_unlocks() =
        runTest {
            val holder = Callers(this).call { mutex.withLock { awaitCancellation() } }
            holder.cancel()
            runCurrent()
            assertTrue(holder.isCancelled)
            assertFalse(mutex.isLocked)
        }

    @Test
    fun withLock_blockTimesOut_unlocks() =
        runTest {
            assertNull(withTimeoutOrNull(10) { mutex.withLock("t1") { delay(20) } })
            assertFalse(mutex.isLocked)
        }

    @Test
    fun withLock_nonLocalReturn_unlocks() =
        runTest {
            assertEquals("found", findsInside())
            assertFalse(mutex.isLocked)
        }

    private suspend fun findsInside(): String {
        mutex.withLock(owner = "t1") { if (mutex.isLocked) return "found" }
        return "not found"
    }

    @Test
    fun withLock_valueAssignedInside_isKnownToBeAssigned() =
        runTest {
            val value: Int
            mutex.withLock { value = 1 }
            assertEquals(1, value)
        }

    @Test
    fun withLock_againBySameOwner_throwsAndTheOuterOneStillHoldsIt() =
        runTest {
            mutex.withLock("t1") {
                assertThrows<IllegalStateException> { mutex.withLock("t1") { fail("ran") } }
                assertEquals("t1", mutex.holder)
            }
            assertFalse(mutex.isLocked)
        }

    @Test
    fun withLock_cancelledWhileWaitingOrBeforeItRan_blockDoesNotRun() =
        runTest {
            mutex.lock()
            val waiters = List(2) { Callers(this).call { mutex.withLock { fail("ran") } } }
            waiters[1].cancel()
            mutex.unlock()
            waiters[0].cancel()
            runCurrent()
            assertTrue(waiters.all { it.isCancelled })
            assertFalse(mutex.isLocked)
        }

    @Test
    fun withLock_manyCoroutinesThatSuspendInside_excludeEachOther() =
        runTest {
            var inside = 0
            var done = 0
            repeat(100) {
                launch {
                    mutex.withLock {
                        assertEquals(1, ++inside)
                        delay(10)
                        inside--
                        done++
                    }
                }
            }
            testScheduler.advanceUntilIdle()
            assertEquals(100, done)
            assertEquals(1000, currentTime)
        }

    @Test
    fun timed_negative_isNowOrNotAtAll() =
        runTest {
            for (timeout in NOW_OR_NEVER) {
                assertTrue(mutex.tryLock(timeout))
                assertFalse(mutex.tryLock(timeout))
                assertFalse(mutex.tryLock(timeout, "t1"))
                mutex.unlock()
            }
            assertEquals(0, currentTime)
        }

    @Test
    fun cancel_dispatcherThrows_placeInTheQueueIsGivenUp() =
        runTest {
            val dead = DyingDispatcher()
            mutex.lock()
            val waiter = Callers(this).callAtOnce("dead", dead) { mutex.lock() }
            val next = Callers(this).call("next") { mutex.lock() }
            dead.isDead = true
            waiter.cancel()
            assertEquals(1, mutex.waiting)
            mutex.unlock()
            runCurrent()
            assertTrue(next.isServed)
        }
}
