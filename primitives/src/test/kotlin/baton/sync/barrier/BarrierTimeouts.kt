package baton.sync.barrier

import baton.NOW_OR_NEVER
import baton.sync.BarrierBrokenException
import baton.sync.BarrierCancellation
import baton.sync.BarrierCancellation.BREAK
import baton.sync.BarrierTimeoutException
import baton.sync.assertState
import baton.sync.countdown.assertState
import baton.waiting.Callers
import java.util.concurrent.TimeoutException
import kotlin.time.Duration
import kotlin.time.Duration.Companion.days
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.nanoseconds
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.advanceTimeBy
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** Waiting for a limited time, in virtual time. */
interface BarrierTimeouts : BarrierFixture {
    @Test
    fun timed_last_tripsAtOnce() =
        runTest {
            for (timeout in NOW_OR_NEVER + 50.milliseconds) {
                val barrier = barrier(2)
                val other = Callers(this).call { barrier.arrive() }
                assertTrue(Callers(this).callAtOnce { check(barrier.arrive(timeout) == 0) }.isServed)
                runCurrent()
                assertTrue(other.isServed)
            }
        }

    @Test
    fun timed_zeroOrNegative_isNowOrNotAtAll() =
        runTest {
            for (timeout in NOW_OR_NEVER) {
                for (onCancel in BarrierCancellation.entries) {
                    val barrier = barrier(3, onCancel)
                    val other = Callers(this).call { barrier.arrive() }
                    assertThrows<BarrierTimeoutException> { barrier.arrive(timeout) }
                    assertEquals(0, currentTime)
                    assertState(barrier, waiting = if (onCancel == BREAK) 0 else 1, isBroken = onCancel == BREAK)
                    if (onCancel != BREAK) continue
                    runCurrent()
                    assertInstanceOf(TimeoutException::class.java, assertBroken(other).cause)
                    assertThrows<BarrierBrokenException> { barrier.arrive(timeout) }
                }
            }
        }

    @Test
    fun timed_othersDoNotCome_retractsAtTheDeadline() =
        runTest {
            val barrier = barrier(3, name = "page")
            val timed = Callers(this).call { barrier.arrive(50.milliseconds) }
            val other = Callers(this).call { barrier.arrive() }
            advanceTimeBy(50)
            assertTrue(timed.isWaiting)
            assertState(barrier, waiting = 2)
            runCurrent()
            val e = assertInstanceOf(BarrierTimeoutException::class.java, timed.failure)
            assertTrue("50ms" in e.message!! && "page" in e.message!!) { e.message }
            assertTrue(other.isWaiting)
            assertState(barrier, waiting = 1)
        }

    @Test
    fun timed_othersDoNotCome_breaksAtTheDeadline() =
        runTest {
            val barrier = barrier(3, BREAK)
            val timed = Callers(this).call { barrier.arrive(50.milliseconds) }
            val other = Callers(this).call { barrier.arrive() }
            advanceTimeBy(51)
            assertInstanceOf(BarrierTimeoutException::class.java, timed.failure)
            assertInstanceOf(BarrierTimeoutException::class.java, assertBroken(other).cause)
            assertState(barrier, waiting = 0, isBroken = true)
        }

    @Test
    fun timed_othersComeInTime_answersTheNumber() =
        runTest {
            val barrier = barrier(2)
            launch {
                delay(49)
                barrier.arrive()
            }
            assertEquals(1, barrier.arrive(50.milliseconds))
            assertEquals(49, currentTime)
            advanceTimeBy(100)
            Callers(this).assertWhole(barrier)
        }

    @Test
    fun timed_infinite_waitsAsArriveDoes() =
        runTest {
            val barrier = barrier(2)
            val caller = Callers(this).call { barrier.arrive(Duration.INFINITE) }
            advanceTimeBy(36_500.days)
            assertTrue(caller.isWaiting)
            barrier.arrive()
            runCurrent()
            assertTrue(caller.isServed)
        }

    @Test
    fun timed_belowAMillisecond_isRoundedUp() =
        runTest {
            assertThrows<BarrierTimeoutException> { barrier(2).arrive(1.nanoseconds) }
            assertEquals(1, currentTime)
        }

    @Test
    fun timed_cancelled_throwsThatAndLeavesNothing() =
        runTest {
            val barrier = barrier(2)
            val caller = Callers(this).call { barrier.arrive(50.milliseconds) }
            caller.cancel()
            assertState(barrier, waiting = 0)
            runCurrent()
            assertTrue(caller.isCancelled)
        }

    @Test
    fun timed_whileTheActionRuns_leavesWithoutHarm() =
        runTest {
            val gate = CompletableDeferred<Unit>()
            val barrier = barrier(3) { gate.await() }
            val timed = Callers(this).call { barrier.arrive(50.milliseconds) }
            val others = List(2) { Callers(this).call { barrier.arrive() } }
            advanceTimeBy(51)
            assertInstanceOf(BarrierTimeoutException::class.java, timed.failure)
            assertState(barrier, waiting = 1)
            gate.complete(Unit)
            runCurrent()
            assertTrue(others.all { it.isServed })
        }

    @Test
    fun timed_lastWhoseActionTakesLonger_isNotTimedOut() =
        runTest {
            val barrier = barrier(1, BREAK) { delay(1000) }
            assertEquals(0, barrier.arrive(50.milliseconds))
            assertEquals(1000, currentTime)
        }

    @Test
    fun timed_comesToLeadAfterAnotherAction_isNotTimedOutInItsOwn() =
        runTest {
            val barrier = barrier(1) { delay(40) }
            val callers = Callers(this)
            repeat(2) { callers.call { barrier.arrive(50.milliseconds) } }
            advanceTimeBy(1000)
            assertEquals(2, callers.served.size)
        }

    @Test
    fun timed_broken_isRefusedAtOnce() =
        runTest {
            val barrier = barrier(2, BREAK)
            Callers(this).call { barrier.arrive() }.cancel()
            assertThrows<BarrierBrokenException> { barrier.arrive(50.milliseconds) }
            assertEquals(0, currentTime)
        }
}
