package baton.sync.semaphore

import baton.NOW_OR_NEVER
import baton.Priority
import baton.sync.Semaphore
import baton.sync.SemaphoreClosedException
import baton.sync.WaitOrder
import baton.sync.semaphore.contract.DyingDispatcher
import baton.waiting.Callers
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.nanoseconds
import kotlinx.coroutines.test.advanceTimeBy
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** Promises of the suspend functions of a semaphore alone. */
class SuspendingSemaphoreTest {
    @Test
    fun timed_negative_isNowOrNotAtAll() =
        runTest {
            val semaphore = Semaphore(2)
            for (timeout in NOW_OR_NEVER) {
                assertTrue(semaphore.tryAcquire(2, timeout))
                assertFalse(semaphore.tryAcquire(1, timeout))
                assertEquals(0, semaphore.waiting)
                semaphore.release(2)
            }
            assertEquals(0, currentTime)
        }

    @Test
    fun timed_negativeAndClosed_throwsThatItIsClosed() =
        runTest {
            val semaphore = Semaphore(1).also { it.close() }
            for (timeout in NOW_OR_NEVER) {
                assertThrows<SemaphoreClosedException> { semaphore.tryAcquire(1, timeout) }
            }
        }

    @Test
    fun timed_oneNanosecond_waitsForTheNextMillisecond() =
        runTest {
            assertFalse(Semaphore(1, acquired = 1).tryAcquire(1, 1.nanoseconds))
            assertEquals(1, currentTime)
        }

    @Test
    fun timed_priority_isTakenFromTheContext() =
        runTest {
            val callers = Callers(this)
            val semaphore = Semaphore(1, acquired = 1, order = WaitOrder.PRIORITY)
            callers.call("low", Priority.LOW) { semaphore.tryAcquire(1, 50.milliseconds) }
            callers.call("high", Priority.HIGH) { semaphore.tryAcquire(1, 50.milliseconds) }
            repeat(2) {
                semaphore.release()
                runCurrent()
            }
            assertEquals(listOf("high", "low"), callers.served)
        }

    @Test
    fun unfair_newcomerBeforeTheHeadHasRun_overtakes() =
        runTest {
            val semaphore = Semaphore(1, acquired = 1, order = WaitOrder.UNFAIR)
            val head = Callers(this).call { semaphore.acquire() }
            semaphore.release()
            assertTrue(semaphore.tryAcquire())
            runCurrent()
            assertTrue(head.isWaiting)
            assertEquals(1, semaphore.waiting)
            semaphore.release()
            runCurrent()
            assertTrue(head.isServed)
        }

    @Test
    fun unfair_releasedAndTheHeadHasNotRun_permitIsNobodys() =
        runTest {
            for (waiters in 0..3) {
                val semaphore = Semaphore(2, acquired = 2, order = WaitOrder.UNFAIR)
                repeat(waiters) { Callers(this).call { semaphore.acquire() } }
                semaphore.release()
                assertEquals(1, semaphore.availablePermits) { "$waiters" }
                assertEquals(waiters, semaphore.waiting)
            }
        }

    @Test
    fun release_moreThanHeldWhileTheHeadIsInvited_throwsAndChangesNothing() =
        runTest {
            for (n in 1..3) {
                val semaphore = Semaphore(3, acquired = 3, order = WaitOrder.UNFAIR)
                val head = Callers(this).call { semaphore.acquire() }
                semaphore.release(4 - n)
                assertThrows<IllegalStateException> { semaphore.release(n) }
                assertEquals("${4 - n}, 1", "${semaphore.availablePermits}, ${semaphore.waiting}")
                runCurrent()
                assertTrue(head.isServed)
            }
        }

    @Test
    fun unfair_newcomersKeepComing_overtakeExactlyAsOftenAsPromised() =
        runTest {
            val semaphore = Semaphore(1, acquired = 1, order = WaitOrder.UNFAIR)
            val head = Callers(this).call { semaphore.acquire() }
            repeat(WaitOrder.MAX_OVERTAKES) {
                semaphore.release()
                assertTrue(semaphore.tryAcquire())
                runCurrent()
                assertTrue(head.isWaiting)
            }
            semaphore.release()
            assertFalse(semaphore.tryAcquire())
            runCurrent()
            assertTrue(head.isServed)
        }

    @Test
    fun unfair_suspendingNewcomers_overtakeAsTryAcquireDoes() =
        runTest {
            val callers = Callers(this)
            val semaphore = Semaphore(1, acquired = 1, order = WaitOrder.UNFAIR)
            callers.call("head") { semaphore.acquire() }
            repeat(WaitOrder.MAX_OVERTAKES) {
                semaphore.release()
                assertTrue(callers.callAtOnce("newcomer") { semaphore.acquire() }.isServed)
                runCurrent()
            }
            semaphore.release()
            assertTrue(callers.callAtOnce("late") { semaphore.acquire() }.isWaiting)
            runCurrent()
            assertEquals("head", callers.served.last())
        }

    @Test
    fun unfair_nextHead_mayBeOvertakenAnew() =
        runTest {
            val callers = Callers(this)
            val semaphore = Semaphore(1, acquired = 1, order = WaitOrder.UNFAIR)
            for (name in listOf("first", "second")) callers.call(name) { semaphore.acquire() }
            for (served in 0..1) {
                repeat(WaitOrder.MAX_OVERTAKES) {
                    semaphore.release()
                    assertTrue(semaphore.tryAcquire())
                    runCurrent()
                }
                assertEquals(served, callers.served.size)
                semaphore.release()
                runCurrent()
            }
            assertEquals(listOf("first", "second"), callers.served)
        }

    @Test
    fun unfair_invitedHeadTimesOut_nextIsServed() =
        runTest {
            val callers = Callers(this)
            val semaphore = Semaphore(1, acquired = 1, order = WaitOrder.UNFAIR)
            callers.call("timed") { semaphore.tryAcquire(1, 50.milliseconds) }
            callers.call("next") { semaphore.acquire() }
            advanceTimeBy(50)
            semaphore.release()
            runCurrent()
            assertEquals(1, callers.served.size)
            semaphore.release()
            runCurrent()
            assertEquals("next", callers.served.last())
        }

    @Test
    fun unfair_dispatcherOfTheInvitedHeadThrows_permitGoesToTheNext() =
        runTest {
            val dead = DyingDispatcher()
            val callers = Callers(this)
            val semaphore = Semaphore(1, acquired = 1, order = WaitOrder.UNFAIR)
            callers.callAtOnce("dead", dead) { semaphore.acquire() }
            callers.call("next") { semaphore.acquire() }
            dead.isDead = true
            semaphore.release()
            while (callers.served.isEmpty()) Thread.onSpinWait().also { runCurrent() }
            assertEquals(listOf("next"), callers.served)
            assertEquals(0, semaphore.availablePermits)
        }

    @Test
    fun cancel_dispatcherThrows_placeInTheQueueIsGivenUp() =
        runTest {
            val dead = DyingDispatcher()
            val semaphore = Semaphore(3, acquired = 2)
            val heavy = Callers(this).callAtOnce("dead", dead) { semaphore.acquire(2) }
            val small = Callers(this).call("small") { semaphore.acquire() }
            dead.isDead = true
            heavy.cancel()
            runCurrent()
            assertTrue(small.isServed)
            assertEquals(0, semaphore.availablePermits)
        }
}
