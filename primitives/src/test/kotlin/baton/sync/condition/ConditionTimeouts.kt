package baton.sync.condition

import baton.NOW_OR_NEVER
import baton.sync.assertContains
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.job
import kotlinx.coroutines.test.advanceTimeBy
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runCurrent
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** Waiting for a signal for a limited time, in virtual time: however the wait ends, the caller has the mutex then. */
interface ConditionTimeouts : ConditionFixture {
    private fun ConditionScene.timed(owner: Any? = "a") =
        callers.call("timed") { mutex.lock(owner).let { condition.await(50.milliseconds) } }

    @Test
    fun timed_mutexIsFreeOrHeldAtTheDeadline_givesUpWhenItHasTheMutex() {
        for (end in listOf("free", "held", "cancelled")) {
            scene {
                val caller = timed()
                if (end == "free") {
                    scope.advanceTimeBy(51)
                } else {
                    hold {
                        scope.advanceTimeBy(100)
                        assertTrue(caller.isWaiting)
                        assertState(condition, isLocked = true, queued = 1)
                        if (end == "cancelled") caller.cancel() else signal()
                        assertState(condition, isLocked = true, queued = 1)
                    }
                }
                assert("", isLocked = true)
                assertEquals("a", mutex.holder)
                assertEquals(end != "cancelled", caller.gaveUp)
                assertEquals(end == "cancelled", caller.isCancelled)
            }
        }
    }

    @Test
    fun timed_signalledInTime_isServedHoweverLateTheMutexComes() = scene {
        val caller = timed()
        scope.advanceTimeBy(49)
        hold {
            signal()
            scope.advanceTimeBy(1_000)
            assertTrue(caller.isWaiting)
        }
        assert("timed", isLocked = true)
    }

    @Test
    fun timed_zeroOrNegative_returnsFalseAndKeepsTheMutex() = scene {
        mutex.lock("a")
        val next = callers.call { mutex.lock() }
        for (timeout in NOW_OR_NEVER) {
            assertFalse(condition.await(timeout))
            assertEquals(0, scope.currentTime)
            assertEquals("a", mutex.holder)
            assertTrue(next.isWaiting)
        }
    }

    @Test
    fun timed_zeroAndAlreadyCancelled_doesNotLook() = scene {
        val caller =
            callers.callAtOnce {
                mutex.lock()
                currentCoroutineContext().job.cancel()
                condition.await(Duration.ZERO)
            }
        assertTrue(caller.gaveUp)
        assert("", isLocked = true)
    }

    @Test
    fun timed_mutexIsFree_throwsAtOnce() = scene {
        val condition = condition("account")
        for (timeout in NOW_OR_NEVER + listOf(50.milliseconds, Duration.INFINITE)) {
            assertContains(assertThrows<IllegalStateException> { condition.await(timeout) }.message, "account")
        }
        assertEquals(0, scope.currentTime)
        scope.advanceTimeBy(100)
        assertState(condition, isLocked = false)
    }

    @Test
    fun timed_cancelled_throwsHoldingTheMutexAndStopsItsTimer() = scene {
        val caller = timed()
        caller.cancel()
        scope.runCurrent()
        assertTrue(caller.isCancelled)
        assertEquals("a", mutex.holder)
        scope.advanceTimeBy(100)
        assert("", isLocked = true)
    }
}
