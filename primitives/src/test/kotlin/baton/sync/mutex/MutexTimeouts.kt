package baton.sync.mutex

import baton.sync.assertState
import baton.sync.countdown.assertState
import baton.waiting.Callers
import kotlin.time.Duration
import kotlin.time.Duration.Companion.days
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.nanoseconds
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.advanceTimeBy
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** Waiting for a limited time, in virtual time. */
interface MutexTimeouts : MutexFixture {
    @Test
    fun timed_free_locksAtOnce() =
        runTest {
            val mutex = mutex()
            assertTrue(Callers(this).callAtOnce { mutex.tryLock(50.milliseconds, "t1") }.isServed)
            assertEquals("t1", mutex.holder)
        }

    @Test
    fun timed_zero_isNowOrNotAtAll() =
        runTest {
            val mutex = mutex()
            assertTrue(mutex.tryLock(Duration.ZERO))
            assertFalse(mutex.tryLock(Duration.ZERO))
            assertEquals(0, currentTime)
            assertState(mutex, isLocked = true)
        }

    @Test
    fun timed_nobodyUnlocks_givesUpAtTheDeadline() =
        runTest {
            val mutex = mutex(locked = true)
            val caller = Callers(this).call { mutex.tryLock(50.milliseconds) }
            advanceTimeBy(50)
            assertTrue(caller.isWaiting)
            assertState(mutex, isLocked = true, waiting = 1)
            runCurrent()
            assertTrue(caller.gaveUp)
            assertState(mutex, isLocked = true)
            mutex.unlock()
            assertState(mutex, isLocked = false)
        }

    @Test
    fun timed_unlockBeforeTheDeadline_locksThen() =
        runTest {
            val mutex = mutex(locked = true)
            launch {
                delay(49)
                mutex.unlock()
            }
            assertTrue(mutex.tryLock(50.milliseconds, "t1"))
            assertEquals(49, currentTime)
            advanceTimeBy(100)
            assertEquals("t1", mutex.holder)
        }

    @Test
    fun timed_unlockAtTheDeadlineBeforeTheTimer_locks() =
        runTest {
            val mutex = mutex(locked = true)
            backgroundScope.launch {
                delay(50)
                mutex.unlock()
            }
            runCurrent()
            assertTrue(mutex.tryLock(50.milliseconds))
            assertState(mutex, isLocked = true)
        }

    @Test
    fun timed_unlockAtTheDeadlineAfterTheTimer_staysFree() =
        runTest {
            val mutex = mutex(locked = true)
            val caller = Callers(this).call { mutex.tryLock(50.milliseconds) }
            launch {
                delay(50)
                mutex.unlock()
            }
            advanceTimeBy(51)
            assertTrue(caller.gaveUp)
            assertState(mutex, isLocked = false)
        }

    @Test
    fun timed_infinite_waitsAsLockDoes() =
        runTest {
            val mutex = mutex(locked = true)
            val caller = Callers(this).call { mutex.tryLock(Duration.INFINITE) }
            advanceTimeBy(36_500.days)
            assertTrue(caller.isWaiting)
            mutex.unlock()
            runCurrent()
            assertTrue(caller.isServed)
        }

    @Test
    fun timed_belowAMillisecond_isRoundedUp() =
        runTest {
            val mutex = mutex(locked = true)
            assertFalse(mutex.tryLock(1.nanoseconds))
            assertEquals(1, currentTime)
        }

    @Test
    fun timed_middleGivesUp_keepsTheOrderOfTheOthers() =
        runTest {
            val callers = Callers(this)
            val mutex = mutex(locked = true)
            callers.call("a") { mutex.lock() }
            callers.call("timed") { mutex.tryLock(10.milliseconds) }
            callers.call("b") { mutex.lock() }
            advanceTimeBy(11)
            assertState(mutex, isLocked = true, waiting = 2)
            repeat(2) {
                mutex.unlock()
                runCurrent()
            }
            assertEquals(listOf("a", "b"), callers.served)
        }

    @Test
    fun timed_cancelled_throwsAndLeavesNothing() =
        runTest {
            val mutex = mutex(locked = true)
            val waits = Callers(this).call { mutex.tryLock(50.milliseconds) }
            waits.cancel()
            val granted = Callers(this).call { mutex.tryLock(50.milliseconds) }
            mutex.unlock()
            granted.cancel()
            runCurrent()
            assertTrue(waits.isCancelled && granted.isCancelled)
            assertState(mutex, isLocked = false)
        }

    @Test
    fun timed_againBySameOwner_throwsAtOnce() =
        runTest {
            val mutex = mutex()
            mutex.lock("t1")
            for (timeout in listOf(Duration.ZERO, 50.milliseconds)) {
                assertThrows<IllegalStateException> { mutex.tryLock(timeout, "t1") }
            }
            assertEquals(0, currentTime)
            assertState(mutex, isLocked = true)
        }
}
