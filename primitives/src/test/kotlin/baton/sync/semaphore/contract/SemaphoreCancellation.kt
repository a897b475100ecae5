package baton.sync.semaphore.contract

import baton.sync.assertState
import baton.sync.countdown.assertState
import baton.waiting.Callers
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.job
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeoutOrNull
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** A cancelled caller throws and holds nothing, at whatever moment it was cancelled. */
interface SemaphoreCancellation : SemaphoreFixture {
    @Test
    fun cancel_onlyWaiter_throwsAndLeavesNothing() =
        runTest {
            val semaphore = semaphore(1, acquired = 1)
            val waiter = Callers(this).call { semaphore.acquire() }
            waiter.cancel()
            assertState(semaphore, available = 0, waiting = 0)
            runCurrent()
            assertTrue(waiter.isCancelled)
            semaphore.release()
            assertState(semaphore, available = 1)
        }

    @Test
    fun cancel_anyOneOfFive_keepsTheOrderOfTheOthers() =
        runTest {
            for (leaver in 0..4) {
                val callers = Callers(this)
                val semaphore = semaphore(1, acquired = 1)
                val waiters = List(5) { i -> callers.call("$i") { semaphore.acquire() } }
                waiters[leaver].cancel()
                assertState(semaphore, available = 0, waiting = 4)
                repeat(5) {
                    semaphore.release()
                    runCurrent()
                }
                assertEquals((0..4).filter { it != leaver }.map { "$it" }, callers.served)
                assertState(semaphore, available = 1)
            }
        }

    @Test
    fun cancel_allWaitersInAnyOrder_leavesNothing() =
        runTest {
            for (order in listOf(listOf(0, 1, 2), listOf(2, 1, 0), listOf(1, 0, 2), listOf(1, 2, 0))) {
                val semaphore = semaphore(3, acquired = 2)
                val waiters = List(3) { i -> Callers(this).call { semaphore.acquire(i + 2 - i / 2) } }
                for (i in order) waiters[i].cancel()
                runCurrent()
                assertTrue(waiters.all { it.isCancelled })
                assertState(semaphore, available = 1)
            }
        }

    @Test
    fun cancel_heavyHead_letsInTheSmallOnesAtOnce() =
        runTest {
            val callers = Callers(this)
            val semaphore = semaphore(4, acquired = 2)
            val heavy = callers.call("heavy") { semaphore.acquire(3) }
            for (name in listOf("a", "b", "c")) callers.call(name) { semaphore.acquire() }
            heavy.cancel()
            assertState(semaphore, available = 0, waiting = 1)
            runCurrent()
            assertEquals(listOf("a", "b"), callers.served)
        }

    @Test
    fun cancel_heavyHeadBeforeHeavy_leavesTheNextInFront() =
        runTest {
            val callers = Callers(this)
            val semaphore = semaphore(4, acquired = 3)
            val heavy = callers.call("heavy") { semaphore.acquire(4) }
            callers.call("next") { semaphore.acquire(2) }
            callers.call("small") { semaphore.acquire() }
            heavy.cancel()
            runCurrent()
            assertEquals(emptyList<String>(), callers.served)
            semaphore.release()
            runCurrent()
            assertEquals(listOf("next"), callers.served)
            assertState(semaphore, available = 0, waiting = 1)
        }

    @Test
    fun cancel_heavyInTheMiddle_letsNobodyPastTheHead() =
        runTest {
            val callers = Callers(this)
            val semaphore = semaphore(4, acquired = 3)
            callers.call("head") { semaphore.acquire(2) }
            val middle = callers.call("middle") { semaphore.acquire(4) }
            callers.call("small") { semaphore.acquire() }
            middle.cancel()
            runCurrent()
            assertEquals(emptyList<String>(), callers.served)
            assertState(semaphore, available = 1, waiting = 2)
            semaphore.release(2)
            runCurrent()
            assertEquals(listOf("head", "small"), callers.served)
        }

    @Test
    fun cancel_betweenGrantAndResumption_passesThePermitOn() =
        runTest {
            val callers = Callers(this)
            val semaphore = semaphore(1, acquired = 1)
            val granted = callers.call("granted") { semaphore.acquire() }
            val next = callers.call("next") { semaphore.acquire() }
            semaphore.release()
            granted.cancel()
            runCurrent()
            assertTrue(granted.isCancelled)
            assertTrue(next.isServed)
            assertState(semaphore, available = 0)
        }

    @Test
    fun cancel_betweenGrantAndResumption_permitIsElsewhereBeforeItThrows() =
        runTest {
            val semaphore = semaphore(1, acquired = 1)
            var seen: String? = null
            val granted =
                Callers(this).call("granted") {
                    try {
                        semaphore.acquire()
                    } catch (e: CancellationException) {
                        seen = "available = ${semaphore.available}, waiting = ${semaphore.waiting}"
                        throw e
                    }
                }
            Callers(this).call("next") { semaphore.acquire() }
            Callers(this).call("last") { semaphore.acquire() }
            semaphore.release()
            granted.cancel()
            runCurrent()
            assertEquals("available = 0, waiting = 1", seen)
        }

    @Test
    fun cancel_betweenGrantAndResumptionAndNobodyWaits_permitIsAvailable() =
        runTest {
            val semaphore = semaphore(3, acquired = 3)
            val granted = Callers(this).call { semaphore.acquire(2) }
            semaphore.release(2)
            granted.cancel()
            runCurrent()
            assertTrue(granted.isCancelled)
            assertState(semaphore, available = 2)
            assertThrows(IllegalStateException::class.java) { semaphore.release(2) }
        }

    @Test
    fun cancel_heavyBetweenGrantAndResumption_letsInSeveral() =
        runTest {
            val callers = Callers(this)
            val semaphore = semaphore(3, acquired = 3)
            val heavy = callers.call("heavy") { semaphore.acquire(3) }
            for ((name, n) in listOf("one" to 1, "two" to 2, "three" to 3)) {
                callers.call(name) { semaphore.acquire(n) }
            }
            semaphore.release(3)
            heavy.cancel()
            runCurrent()
            assertEquals(listOf("one", "two"), callers.served)
            assertState(semaphore, available = 0, waiting = 1)
        }

    @Test
    fun cancel_severalGrantedAndNotResumed_lastOneGetsThePermit() =
        runTest {
            val callers = Callers(this)
            val semaphore = semaphore(2, acquired = 2)
            val lost = List(4) { callers.call("lost") { semaphore.acquire() } }
            callers.call("a") { semaphore.acquire() }
            callers.call("b") { semaphore.acquire() }
            semaphore.release(2)
            lost.forEach { it.cancel() }
            runCurrent()
            assertTrue(lost.all { it.isCancelled })
            assertEquals(listOf("a", "b"), callers.served)
            assertState(semaphore, available = 0)
        }

    @Test
    fun cancel_afterResumption_keepsThePermitForTheHolder() =
        runTest {
            val semaphore = semaphore(1, acquired = 1)
            val holder = Callers(this).call { semaphore.acquire() }
            semaphore.release()
            runCurrent()
            holder.cancel()
            runCurrent()
            assertTrue(holder.isServed)
            assertState(semaphore, available = 0)
        }

    @Test
    fun acquire_alreadyCancelledAndPermitFree_succeeds() =
        runTest {
            val semaphore = semaphore(3)
            val caller =
                Callers(this).call {
                    currentCoroutineContext().job.cancel()
                    semaphore.acquire()
                    semaphore.acquire(2)
                }
            assertTrue(caller.isServed)
            assertState(semaphore, available = 0)
        }

    @Test
    fun acquire_alreadyCancelledAndMustWait_throwsAndLeavesNothing() =
        runTest {
            for (n in 1..3) {
                val semaphore = semaphore(3, acquired = 3)
                val caller =
                    Callers(this).call {
                        currentCoroutineContext().job.cancel()
                        semaphore.acquire(n)
                    }
                assertTrue(caller.isCancelled)
                assertState(semaphore, available = 0)
                semaphore.release(3)
                assertState(semaphore, available = 3)
            }
        }

    @Test
    fun acquire_alreadyCancelledBehindHeavyHead_leavesTheHeadInPlace() =
        runTest {
            val callers = Callers(this)
            val semaphore = semaphore(3, acquired = 2)
            val heavy = callers.call { semaphore.acquire(2) }
            callers.call {
                currentCoroutineContext().job.cancel()
                semaphore.acquire()
            }
            assertState(semaphore, available = 1, waiting = 1)
            semaphore.release()
            runCurrent()
            assertTrue(heavy.isServed)
        }

    @Test
    fun acquire_nonCancellable_waitsOnAndIsServed() =
        runTest {
            val semaphore = semaphore(1, acquired = 1)
            val caller = Callers(this).call { withContext(NonCancellable) { semaphore.acquire() } }
            caller.cancel()
            runCurrent()
            assertTrue(caller.isWaiting)
            assertState(semaphore, available = 0, waiting = 1)
            semaphore.release()
            runCurrent()
            assertState(semaphore, available = 0, waiting = 0)
            semaphore.release()
            assertState(semaphore, available = 1)
        }

    @Test
    fun cancel_withACause_throwsIt() =
        runTest {
            val semaphore = semaphore(1, acquired = 1)
            val caller = Callers(this).call { semaphore.acquire() }
            caller.job.cancel(CancellationException("lost interest"))
            runCurrent()
            assertInstanceOf(CancellationException::class.java, caller.failure)
        }

    @Test
    fun acquire_withinWithTimeout_leavesTheQueue() =
        runTest {
            val semaphore = semaphore(1, acquired = 1)
            assertNull(withTimeoutOrNull(50.milliseconds) { semaphore.acquire() })
            assertEquals(50, currentTime)
            assertState(semaphore, available = 0)
            semaphore.release()
            assertState(semaphore, available = 1)
        }

    @Test
    fun cancel_waiterThenRelease_overReleaseIsStillFound() =
        runTest {
            val semaphore = semaphore(2, acquired = 2)
            val callers = List(3) { Callers(this).call { semaphore.acquire(2) } }
            callers.forEach { it.cancel() }
            semaphore.release(2)
            assertThrows(IllegalStateException::class.java) { semaphore.release() }
            assertState(semaphore, available = 2)
        }

    @Test
    fun cancel_headWhilePermitsAccumulate_nobodyIsLeftBehind() =
        runTest {
            val callers = Callers(this)
            val semaphore = semaphore(5, acquired = 5)
            val heavy = callers.call("heavy") { semaphore.acquire(5) }
            callers.call("three") { semaphore.acquire(3) }
            callers.call("one") { semaphore.acquire() }
            semaphore.release(2)
            semaphore.release(2)
            heavy.cancel()
            runCurrent()
            assertEquals(listOf("three", "one"), callers.served)
            assertState(semaphore, available = 0)
        }
}
