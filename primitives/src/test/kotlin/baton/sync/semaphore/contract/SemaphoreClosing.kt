package baton.sync.semaphore.contract

import baton.sync.SemaphoreClosedException
import baton.sync.assertContains
import baton.sync.assertState
import baton.sync.countdown.assertState
import baton.waiting.Callers
import baton.waiting.causes
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** The end of a semaphore. */
interface SemaphoreClosing : SemaphoreFixture {
    @Test
    fun close_severalWait_allGetClosedWithTheCause() =
        runTest {
            val cause = RuntimeException("going down")
            val semaphore = semaphore(3, acquired = 2, name = "uplink")
            val waiters = (1..3).map { n -> Callers(this).call { semaphore.acquire(4 - n) } }
            val served = waiters.count { it.isServed }
            semaphore.close(cause)
            assertEquals(0, semaphore.waiting)
            runCurrent()
            assertEquals(0, served)
            for (waiter in waiters) {
                val failure = assertInstanceOf(SemaphoreClosedException::class.java, waiter.failure)
                assertTrue(cause in failure.causes())
                assertContains(failure.message, "uplink", "closed")
            }
            assertState(semaphore, available = 1)
        }

    @Test
    fun close_exception_isNoCancellation() =
        runTest {
            val semaphore = semaphore(1, acquired = 1)
            val waiter = Callers(this).call { semaphore.acquire() }
            semaphore.close(CancellationException("as the cause"))
            runCurrent()
            assertInstanceOf(SemaphoreClosedException::class.java, waiter.failure)
            assertInstanceOf(IllegalStateException::class.java, waiter.failure)
            assertFalse(waiter.isCancelled && waiter.failure !is SemaphoreClosedException)
            assertTrue(waiter.job.isCompleted && !waiter.job.isCancelled)
        }

    @Test
    fun close_newcomers_getClosedWithTheCause() =
        runTest {
            val cause = RuntimeException("going down")
            val semaphore = semaphore(3, acquired = 1)
            semaphore.close(cause)
            for (n in 1..3) {
                assertTrue(cause in assertThrows<SemaphoreClosedException> { semaphore.acquire(n) }.causes())
                assertTrue(cause in assertThrows<SemaphoreClosedException> { semaphore.tryAcquire(n) }.causes())
                assertState(semaphore, available = 2)
            }
        }

    @Test
    fun close_withoutCause_hasNone() =
        runTest {
            val semaphore = semaphore(1, acquired = 1)
            val waiter = Callers(this).call { semaphore.acquire() }
            semaphore.close()
            runCurrent()
            assertTrue(waiter.failure!!.causes().all { it is SemaphoreClosedException })
        }

    @Test
    fun close_holders_mayStillRelease() =
        runTest {
            val semaphore = semaphore(3)
            semaphore.acquire(2)
            semaphore.acquire()
            semaphore.close()
            semaphore.release()
            assertState(semaphore, available = 1)
            semaphore.release(2)
            assertState(semaphore, available = 3)
        }

    @Test
    fun release_moreThanHeldAfterClose_throwsAndChangesNothing() {
        val semaphore = semaphore(3, acquired = 1)
        semaphore.close()
        assertThrows<IllegalStateException> { semaphore.release(2) }
        assertState(semaphore, available = 2)
        semaphore.release()
        for (n in listOf(1, 3, Int.MAX_VALUE)) {
            assertThrows<IllegalStateException> { semaphore.release(n) }
            assertState(semaphore, available = 3)
        }
    }

    @Test
    fun close_again_changesNothing() =
        runTest {
            val first = RuntimeException("first")
            val second = RuntimeException("second")
            val semaphore = semaphore(2, acquired = 1)
            semaphore.close(first)
            semaphore.close(second)
            semaphore.close()
            val causes = assertThrows<SemaphoreClosedException> { semaphore.acquire() }.causes()
            assertTrue(first in causes)
            assertFalse(second in causes)
            assertState(semaphore, available = 1)
        }

    @Test
    fun close_grantedWaiterHasNotRun_itIsAHolder() =
        runTest {
            val semaphore = semaphore(2, acquired = 2)
            val granted = Callers(this).call { semaphore.acquire() }
            semaphore.release()
            semaphore.close()
            runCurrent()
            assertTrue(granted.isServed)
            semaphore.release(2)
            assertState(semaphore, available = 2)
        }

    @Test
    fun close_grantedWaiterIsCancelledBeforeItRan_permitIsBack() =
        runTest {
            val semaphore = semaphore(2, acquired = 2)
            val granted = Callers(this).call { semaphore.acquire(2) }
            semaphore.release(2)
            semaphore.close()
            granted.cancel()
            runCurrent()
            assertTrue(granted.isCancelled)
            assertState(semaphore, available = 2)
        }

    @Test
    fun close_andCancelAtOnce_waiterEnds() =
        runTest {
            for (closeFirst in listOf(true, false)) {
                val semaphore = semaphore(1, acquired = 1)
                val waiter = Callers(this).call { semaphore.acquire() }
                if (closeFirst) semaphore.close()
                waiter.cancel()
                if (!closeFirst) semaphore.close()
                runCurrent()
                assertTrue(waiter.failure is SemaphoreClosedException || waiter.isCancelled)
                semaphore.release()
                assertState(semaphore, available = 1)
            }
        }

    @Test
    fun close_heavyHeadHadSomeInReserve_theyAreAvailable() =
        runTest {
            val semaphore = semaphore(5, acquired = 3)
            Callers(this).call { semaphore.acquire(4) }
            Callers(this).call { semaphore.acquire() }
            semaphore.release()
            semaphore.close()
            assertState(semaphore, available = 3)
            semaphore.release(2)
            assertState(semaphore, available = 5)
        }

    @Test
    fun close_inDebt_releasesStillPayItOff() {
        val semaphore = semaphore(5, acquired = 5)
        semaphore.resize(2)
        semaphore.close()
        for (available in listOf(0, 0, 0, 1, 2)) {
            semaphore.release()
            assertState(semaphore, available)
        }
        assertThrows<IllegalStateException> { semaphore.release() }
    }

    @Test
    fun close_refusedNewcomers_leaveTheCountsAlone() =
        runTest {
            val semaphore = semaphore(3, acquired = 3)
            semaphore.close()
            repeat(10) { assertThrows<SemaphoreClosedException> { semaphore.acquire() } }
            repeat(10) { assertThrows<SemaphoreClosedException> { semaphore.acquire(2) } }
            assertState(semaphore, available = 0)
            semaphore.release(3)
            repeat(10) { assertThrows<SemaphoreClosedException> { semaphore.acquire() } }
            assertState(semaphore, available = 3)
            assertThrows<IllegalStateException> { semaphore.release() }
        }

    @Test
    fun awaitIdle_afterClose_stillWaitsForHolders() =
        runTest {
            val semaphore = semaphore(2, acquired = 2)
            semaphore.close()
            val idler = Callers(this).call { semaphore.awaitIdle() }
            semaphore.release()
            runCurrent()
            assertTrue(idler.isWaiting)
            semaphore.release()
            runCurrent()
            assertTrue(idler.isServed)
            semaphore.awaitIdle()
        }

    @Test
    fun awaitIdle_closedMeanwhile_waitsOn() =
        runTest {
            val semaphore = semaphore(2, acquired = 1)
            val idler = Callers(this).call { semaphore.awaitIdle() }
            semaphore.close(RuntimeException("going down"))
            runCurrent()
            assertTrue(idler.isWaiting)
            semaphore.release()
            runCurrent()
            assertTrue(idler.isServed)
        }

    @Test
    fun toString_closed_saysSo() {
        val semaphore = semaphore(1, name = "uplink")
        semaphore.close()
        assertContains(semaphore.toString(), "uplink", "closed")
    }
}
