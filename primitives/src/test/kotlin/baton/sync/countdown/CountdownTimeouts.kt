package baton.sync.countdown

import baton.NOW_OR_NEVER
import baton.sync.assertState
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

/** Waiting for a limited time, in virtual time. */
interface CountdownTimeouts : CountdownFixture {
    @Test
    fun timed_atZero_returnsAtOnce() =
        runTest {
            val countdown = countdown(0)
            for (timeout in NOW_OR_NEVER + listOf(50.milliseconds, Duration.INFINITE)) {
                assertTrue(Callers(this).callAtOnce { countdown.await(timeout) }.isServed)
            }
        }

    @Test
    fun timed_zeroOrNegative_isNowOrNotAtAll() =
        runTest {
            for (timeout in NOW_OR_NEVER) {
                val countdown = countdown(1)
                assertFalse(countdown.await(timeout))
                assertState(countdown, count = 1)
                countdown.down()
                assertTrue(countdown.await(timeout))
            }
            assertEquals(0, currentTime)
        }

    @Test
    fun timed_neverZero_givesUpAtTheDeadline() =
        runTest {
            val countdown = countdown(1)
            val caller = Callers(this).call { countdown.await(50.milliseconds) }
            advanceTimeBy(50)
            assertTrue(caller.isWaiting)
            assertState(countdown, count = 1, waiting = 1)
            runCurrent()
            assertTrue(caller.gaveUp)
            assertState(countdown, count = 1)
        }

    @Test
    fun timed_zeroBeforeTheDeadline_returnsThen() =
        runTest {
            val countdown = countdown(1)
            launch {
                delay(49)
                countdown.down()
            }
            assertTrue(countdown.await(50.milliseconds))
            assertEquals(49, currentTime)
            advanceTimeBy(100)
            assertState(countdown, count = 0)
        }

    @Test
    fun timed_zeroAtTheDeadlineBeforeTheTimer_returns() =
        runTest {
            val countdown = countdown(1)
            backgroundScope.launch {
                delay(50)
                countdown.down()
            }
            runCurrent()
            assertTrue(countdown.await(50.milliseconds))
        }

    @Test
    fun timed_zeroAtTheDeadlineAfterTheTimer_givesUp() =
        runTest {
            val countdown = countdown(1)
            val caller = Callers(this).call { countdown.await(50.milliseconds) }
            launch {
                delay(50)
                countdown.down()
            }
            advanceTimeBy(51)
            assertTrue(caller.gaveUp)
            assertState(countdown, count = 0)
        }

    @Test
    fun timed_infinite_waitsAsAwaitDoes() =
        runTest {
            val countdown = countdown(1)
            val caller = Callers(this).call { countdown.await(Duration.INFINITE) }
            advanceTimeBy(36_500.days)
            assertTrue(caller.isWaiting)
            countdown.down()
            runCurrent()
            assertTrue(caller.isServed)
        }

    @Test
    fun timed_belowAMillisecond_isRoundedUp() =
        runTest {
            assertFalse(countdown(1).await(1.nanoseconds))
            assertEquals(1, currentTime)
        }

    @Test
    fun timed_middleGivesUp_keepsTheOrderOfTheOthers() =
        runTest {
            val callers = Callers(this)
            val countdown = countdown(1)
            callers.call("a") { countdown.await() }
            callers.call("timed") { countdown.await(10.milliseconds) }
            callers.call("b") { countdown.await() }
            advanceTimeBy(11)
            assertState(countdown, count = 1, waiting = 2)
            countdown.down()
            runCurrent()
            assertEquals(listOf("a", "b"), callers.served)
        }

    @Test
    fun timed_cancelled_throwsAndLeavesNothing() =
        runTest {
            val countdown = countdown(1)
            val waits = Callers(this).call { countdown.await(50.milliseconds) }
            waits.cancel()
            val letIn = Callers(this).call { countdown.await(50.milliseconds) }
            countdown.down()
            letIn.cancel()
            runCurrent()
            assertTrue(waits.isCancelled && letIn.isCancelled)
            assertState(countdown, count = 0)
        }
}
