package baton.sync.condition

import baton.NOW_OR_NEVER
import baton.sync.assertContains
import baton.sync.assertState
import baton.sync.countdown.assertState
import baton.waiting.Callers
import kotlin.time.Duration
import kotlin.time.Duration.Companion.days
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.nanoseconds
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.delay
import kotlinx.coroutines.job
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

/** Waiting for a signal for a limited time, in virtual time. */
interface ConditionTimeouts : ConditionFixture {
    @Test
    fun timed_nobodySignals_givesUpAtTheDeadlineWithTheMutex() =
        runTest {
            val condition = condition()
            val caller = Callers(this).call { condition.mutex.lock("a").let { condition.await(50.milliseconds) } }
            advanceTimeBy(50)
            assertTrue(caller.isWaiting)
            assertState(condition, isLocked = false, waiting = 1)
            runCurrent()
            assertTrue(caller.gaveUp)
            assertEquals("a", condition.mutex.holder)
            assertState(condition, isLocked = true)
        }

    @Test
    fun timed_mutexIsHeldAtTheDeadline_givesUpWhenItHasIt() =
        runTest {
            val condition = condition()
            val caller = Callers(this).call { condition.mutex.lock().let { condition.await(50.milliseconds) } }
            condition.mutex.lock()
            advanceTimeBy(100)
            assertTrue(caller.isWaiting)
            assertState(condition, isLocked = true, queued = 1)
            condition.signal()
            condition.mutex.unlock()
            runCurrent()
            assertTrue(caller.gaveUp)
            assertState(condition, isLocked = true)
        }

    @Test
    fun timed_signalledInTime_isServedHoweverLateTheMutexComes() =
        runTest {
            val condition = condition()
            val caller = Callers(this).call { condition.mutex.lock().let { condition.await(50.milliseconds) } }
            advanceTimeBy(49)
            condition.mutex.lock()
            condition.signal()
            advanceTimeBy(1_000)
            assertTrue(caller.isWaiting)
            condition.mutex.unlock()
            runCurrent()
            assertTrue(caller.isServed)
        }

    @Test
    fun timed_zeroOrNegative_returnsFalseAndKeepsTheMutex() =
        runTest {
            val condition = condition()
            condition.mutex.lock("a")
            val next = Callers(this).call { condition.mutex.lock() }
            for (timeout in NOW_OR_NEVER) {
                assertFalse(condition.await(timeout))
                assertEquals(0, currentTime)
                assertEquals("a", condition.mutex.holder)
                assertTrue(next.isWaiting)
            }
        }

    @Test
    fun timed_zeroAndAlreadyCancelled_doesNotLook() =
        runTest {
            val condition = condition()
            val caller =
                Callers(this).callAtOnce {
                    condition.mutex.lock()
                    currentCoroutineContext().job.cancel()
                    condition.await(Duration.ZERO)
                }
            assertTrue(caller.gaveUp)
            assertState(condition, isLocked = true)
        }

    @Test
    fun timed_mutexIsFree_throwsAtOnce() =
        runTest {
            val condition = condition("account")
            for (timeout in NOW_OR_NEVER + listOf(50.milliseconds, Duration.INFINITE)) {
                assertContains(assertThrows<IllegalStateException> { condition.await(timeout) }.message, "account")
            }
            assertEquals(0, currentTime)
            assertState(condition, isLocked = false)
            advanceTimeBy(100)
            assertState(condition, isLocked = false)
        }

    @Test
    fun timed_infinite_waitsAsAwaitDoes() =
        runTest {
            val condition = condition()
            val caller = Callers(this).call { condition.mutex.lock().let { condition.await(Duration.INFINITE) } }
            advanceTimeBy(36_500.days)
            assertTrue(caller.isWaiting)
            condition.lockAndSignal()
            runCurrent()
            assertTrue(caller.isServed)
        }

    @Test
    fun timed_belowAMillisecond_isRoundedUp() =
        runTest {
            val condition = condition()
            condition.mutex.lock()
            assertFalse(condition.await(1.nanoseconds))
            assertEquals(1, currentTime)
        }

    @Test
    fun timed_middleGivesUp_keepsTheOrderOfTheOthers() =
        runTest {
            val callers = Callers(this)
            val condition = condition()
            callers.visitor(condition, "a")
            callers.call("timed") {
                condition.mutex.lock()
                condition.await(10.milliseconds).also { condition.mutex.unlock() }
            }
            callers.visitor(condition, "b")
            advanceTimeBy(11)
            assertState(condition, isLocked = false, waiting = 2)
            repeat(2) {
                condition.lockAndSignal()
                runCurrent()
            }
            assertEquals(listOf("a", "b"), callers.served)
        }

    @Test
    fun timed_signalAtTheDeadlineAfterTheTimer_goesToTheNext() =
        runTest {
            val callers = Callers(this)
            val condition = condition()
            val timed =
                callers.call("timed") {
                    condition.mutex.lock()
                    condition.await(50.milliseconds).also { condition.mutex.unlock() }
                }
            callers.visitor(condition, "next")
            launch {
                delay(50)
                condition.lockAndSignal()
            }
            advanceTimeBy(51)
            assertTrue(timed.gaveUp)
            assertEquals(listOf("next"), callers.served)
            assertState(condition, isLocked = false)
        }

    @Test
    fun timed_cancelled_throwsHoldingTheMutexAndStopsItsTimer() =
        runTest {
            val condition = condition()
            val caller = Callers(this).call { condition.mutex.lock("a").let { condition.await(50.milliseconds) } }
            caller.cancel()
            runCurrent()
            assertTrue(caller.isCancelled)
            assertEquals("a", condition.mutex.holder)
            advanceTimeBy(100)
            assertState(condition, isLocked = true)
        }

    @Test
    fun timed_cancelledAfterTheTimeWasOver_throwsHoldingTheMutex() =
        runTest {
            val condition = condition()
            val caller = Callers(this).call { condition.mutex.lock().let { condition.await(50.milliseconds) } }
            condition.mutex.lock()
            advanceTimeBy(51)
            caller.cancel()
            assertState(condition, isLocked = true, queued = 1)
            condition.mutex.unlock()
            runCurrent()
            assertTrue(caller.isCancelled)
            assertState(condition, isLocked = true)
        }
}
