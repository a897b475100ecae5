package baton.sync.semaphore.contract

import baton.sync.assertState
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.job
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.withTimeoutOrNull
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Waiting until all permits are back. */
interface SemaphoreIdleness : SemaphoreFixture {
    @Test
    fun awaitIdle_nothingHeld_returnsAtOnceEvenIfCancelled() {
        for (isClosed in listOf(false, true)) {
            scene(3) {
                if (isClosed) semaphore.close()
                assertTrue(callers.callAtOnce { semaphore.awaitIdle() }.isServed)
                val cancelled =
                    callers.call {
                        currentCoroutineContext().job.cancel()
                        semaphore.awaitIdle()
                    }
                assertTrue(cancelled.isServed)
                assertState(semaphore, available = 3)
            }
        }
    }

    @Test
    fun awaitIdle_severalHeld_allIdlersReturnAtTheLastRelease() {
        for (step in listOf(1, 3)) {
            scene(3, acquired = 3) {
                repeat(2) { awaitIdle() }
                for (available in step..<3 step step) {
                    release(step)
                    assert("", available)
                }
                release(step)
                assert("idler idler", available = 3)
                semaphore.acquire()
                assertTrue(awaitIdle().isWaiting)
            }
        }
    }

    @Test
    fun awaitIdle_waiting_isNotCountedAndDoesNotHoldBackNewcomers() =
        scene(3, acquired = 1) {
            awaitIdle()
            assertState(semaphore, available = 2, waiting = 0)
            assertTrue(semaphore.tryAcquire())
            assertTrue(callers.callAtOnce("newcomer") { semaphore.acquire() }.isServed)
            assertFalse(semaphore.tryAcquire())
            acquire("next" to 3)
            release(3)
            assert("newcomer next", available = 0)
            release(3)
            assert("newcomer next idler", available = 3)
        }

    @Test
    fun awaitIdle_newcomerIsFasterThanTheIdler_returnsAllTheSame() =
        scene(2, acquired = 2) {
            awaitIdle()
            release(2)
            assertTrue(semaphore.tryAcquire())
            assert("idler", available = 1)
        }

    @Test
    fun awaitIdle_cancelledOrTimedOut_leavesNothing() =
        scene(2, acquired = 2) {
            val waits = awaitIdle()
            waits.cancel()
            assertNull(withTimeoutOrNull(10) { semaphore.awaitIdle() })
            val granted = awaitIdle()
            awaitIdle()
            release(2)
            granted.cancel()
            assert("idler", available = 2)
            assertTrue(waits.isCancelled && granted.isCancelled)
            assertTrue(semaphore.tryAcquire(2))
        }

    @Test
    fun awaitIdle_lastGrantIsReturnedUnused_returns() =
        scene(1, acquired = 1) {
            awaitIdle()
            acquire("granted" to 1)
            release()
            cancel("granted")
            assert("idler", available = 1)
        }

    @Test
    fun awaitIdle_resizedMeanwhile_waitsForHoldersOnly() {
        for (permits in listOf(8, 3, 1)) {
            scene(4, acquired = 2) {
                awaitIdle()
                semaphore.resize(permits)
                release()
                scope.runCurrent()
                assertTrue(get("idler").isWaiting)
                release()
                assert("idler", available = permits)
            }
        }
    }

    @Test
    fun awaitIdle_noPermits_waitsForHoldersAndNotForThoseThatWait() =
        scene(2, acquired = 2) {
            semaphore.resize(0)
            acquire("waits" to 1)
            awaitIdle()
            release()
            assert("", available = 0, waiting = 1)
            release()
            assert("idler", available = 0, waiting = 1)
            assertTrue(awaitIdle().isServed)
            cancel("waits")
            assertTrue(awaitIdle().isServed)
            semaphore.resize(1)
            assert("idler idler idler", available = 1)
        }

    @Test
    fun awaitIdle_heavyHeadIsCancelled_notIdleWhileOthersHold() =
        scene(3, acquired = 1) {
            awaitIdle()
            acquire("heavy" to 3)
            cancel("heavy")
            assert("", available = 2)
            release()
            assert("idler", available = 3)
        }
}
