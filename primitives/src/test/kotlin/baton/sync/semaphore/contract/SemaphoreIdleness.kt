package baton.sync.semaphore.contract

import baton.sync.assertState
import baton.sync.countdown.assertState
import baton.waiting.Callers
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.job
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withTimeoutOrNull
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** Waiting until all permits are back. */
interface SemaphoreIdleness : SemaphoreFixture {
    @Test
    fun awaitIdle_nothingHeld_returnsAtOnce() =
        runTest {
            val semaphore = semaphore(3)
            assertTrue(Callers(this).callAtOnce { semaphore.awaitIdle() }.isServed)
            assertState(semaphore, available = 3)
        }

    @Test
    fun awaitIdle_nothingHeldAndAlreadyCancelled_returns() =
        runTest {
            for (closed in listOf(false, true)) {
                val semaphore = semaphore(3)
                if (closed) semaphore.close()
                val idler =
                    Callers(this).call {
                        currentCoroutineContext().job.cancel()
                        semaphore.awaitIdle()
                    }
                assertTrue(idler.isServed)
            }
        }

    @Test
    fun awaitIdle_severalHeld_waitsForTheLast() =
        runTest {
            val semaphore = semaphore(3, acquired = 3)
            val idler = Callers(this).call { semaphore.awaitIdle() }
            for (n in 1..2) {
                semaphore.release()
                runCurrent()
                assertTrue(idler.isWaiting)
            }
            semaphore.release()
            runCurrent()
            assertTrue(idler.isServed)
            assertState(semaphore, available = 3)
        }

    @Test
    fun awaitIdle_allReleasedInOneStep_returns() =
        runTest {
            val semaphore = semaphore(3, acquired = 3)
            val idler = Callers(this).call { semaphore.awaitIdle() }
            semaphore.release(3)
            runCurrent()
            assertTrue(idler.isServed)
        }

    @Test
    fun awaitIdle_waiting_doesNotCount() =
        runTest {
            val semaphore = semaphore(2, acquired = 1)
            repeat(3) { Callers(this).call { semaphore.awaitIdle() } }
            assertState(semaphore, available = 1, waiting = 0)
            Callers(this).call { semaphore.acquire(2) }
            assertState(semaphore, available = 1, waiting = 1)
        }

    @Test
    fun awaitIdle_waiting_doesNotBarNewcomers() =
        runTest {
            val semaphore = semaphore(3, acquired = 1)
            val idler = Callers(this).call { semaphore.awaitIdle() }
            assertTrue(semaphore.tryAcquire())
            assertTrue(Callers(this).callAtOnce { semaphore.acquire() }.isServed)
            assertFalse(semaphore.tryAcquire())
            assertState(semaphore, available = 0)
            semaphore.release(2)
            assertTrue(Callers(this).callAtOnce { semaphore.acquire(2) }.isServed)
            semaphore.release(2)
            runCurrent()
            assertTrue(idler.isWaiting)
            semaphore.release()
            runCurrent()
            assertTrue(idler.isServed)
        }

    @Test
    fun awaitIdle_permitsGoFromHandToHand_waitsOn() =
        runTest {
            val callers = Callers(this)
            val semaphore = semaphore(1, acquired = 1)
            val idler = callers.call("idler") { semaphore.awaitIdle() }
            callers.call("next") { semaphore.acquire() }
            semaphore.release()
            runCurrent()
            assertEquals(listOf("next"), callers.served)
            assertTrue(idler.isWaiting)
            semaphore.release()
            runCurrent()
            assertTrue(idler.isServed)
        }

    @Test
    fun awaitIdle_newcomerIsFasterThanTheAwaiter_returnsAllTheSame() =
        runTest {
            val semaphore = semaphore(2, acquired = 2)
            val idler = Callers(this).call { semaphore.awaitIdle() }
            semaphore.release(2)
            assertTrue(semaphore.tryAcquire())
            runCurrent()
            assertTrue(idler.isServed)
            assertState(semaphore, available = 1)
        }

    @Test
    fun awaitIdle_severalAwait_allReturn() =
        runTest {
            val semaphore = semaphore(1, acquired = 1)
            val idlers = List(4) { Callers(this).call { semaphore.awaitIdle() } }
            semaphore.release()
            runCurrent()
            assertTrue(idlers.all { it.isServed })
            semaphore.acquire()
            val later = Callers(this).call { semaphore.awaitIdle() }
            assertTrue(later.isWaiting)
        }

    @Test
    fun awaitIdle_cancelled_leavesNothing() =
        runTest {
            val semaphore = semaphore(2, acquired = 2)
            val idlers = List(2) { Callers(this).call { semaphore.awaitIdle() } }
            idlers[0].cancel()
            runCurrent()
            assertTrue(idlers[0].isCancelled)
            semaphore.release(2)
            runCurrent()
            assertTrue(idlers[1].isServed)
            assertState(semaphore, available = 2)
        }

    @Test
    fun awaitIdle_cancelledBetweenIdleAndResumption_throwsAndTakesNothing() =
        runTest {
            val semaphore = semaphore(2, acquired = 2)
            val idler = Callers(this).call { semaphore.awaitIdle() }
            semaphore.release(2)
            idler.cancel()
            runCurrent()
            assertTrue(idler.isCancelled)
            assertState(semaphore, available = 2)
        }

    @Test
    fun awaitIdle_withinWithTimeout_leaves() =
        runTest {
            val semaphore = semaphore(1, acquired = 1)
            assertNull(withTimeoutOrNull(10) { semaphore.awaitIdle() })
            semaphore.release()
            assertState(semaphore, available = 1)
            assertTrue(semaphore.tryAcquire())
        }

    @Test
    fun awaitIdle_lastGrantIsReturnedUnused_returns() =
        runTest {
            val semaphore = semaphore(1, acquired = 1)
            val idler = Callers(this).call { semaphore.awaitIdle() }
            val granted = Callers(this).call { semaphore.acquire() }
            semaphore.release()
            granted.cancel()
            runCurrent()
            assertTrue(granted.isCancelled)
            assertTrue(idler.isServed)
        }

    @Test
    fun awaitIdle_debt_waitsUntilItIsPaidAndNothingIsHeld() =
        runTest {
            val semaphore = semaphore(4, acquired = 4)
            semaphore.resize(2)
            val idler = Callers(this).call { semaphore.awaitIdle() }
            repeat(3) {
                semaphore.release()
                runCurrent()
                assertTrue(idler.isWaiting)
            }
            semaphore.release()
            runCurrent()
            assertTrue(idler.isServed)
        }

    @Test
    fun awaitIdle_resizedMeanwhile_waitsForHoldersOnly() =
        runTest {
            val semaphore = semaphore(4, acquired = 1)
            val idler = Callers(this).call { semaphore.awaitIdle() }
            semaphore.resize(8)
            semaphore.resize(3)
            runCurrent()
            assertTrue(idler.isWaiting)
            semaphore.release()
            runCurrent()
            assertTrue(idler.isServed)
            assertState(semaphore, available = 3)
        }

    @Test
    fun release_moreThanHeldWhileIdleIsAwaited_throwsAndChangesNothing() =
        runTest {
            val semaphore = semaphore(3, acquired = 1)
            val idler = Callers(this).call { semaphore.awaitIdle() }
            for (n in listOf(2, 3, Int.MAX_VALUE)) {
                assertThrows<IllegalStateException> { semaphore.release(n) }
                assertState(semaphore, available = 2)
            }
            runCurrent()
            assertTrue(idler.isWaiting)
        }

    @Test
    fun awaitIdle_heavyHeadIsCancelled_notIdleWhileOthersHold() =
        runTest {
            val semaphore = semaphore(3, acquired = 1)
            val idler = Callers(this).call { semaphore.awaitIdle() }
            val heavy = Callers(this).call { semaphore.acquire(3) }
            heavy.cancel()
            runCurrent()
            assertTrue(idler.isWaiting)
            assertState(semaphore, available = 2)
            semaphore.release()
            runCurrent()
            assertTrue(idler.isServed)
        }
}
