package baton.sync.semaphore.contract

import baton.sync.SemaphoreClosedException
import baton.sync.assertContains
import baton.sync.assertState
import baton.sync.countdown.assertState
import baton.waiting.Callers
import baton.waiting.causes
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
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** Waiting for a limited time, in virtual time. */
interface SemaphoreTimeouts : SemaphoreFixture {
    @Test
    fun timed_enoughAvailable_takesAtOnce() =
        runTest {
            val semaphore = semaphore(3)
            assertTrue(Callers(this).callAtOnce { semaphore.tryAcquire(2, 50.milliseconds) }.isServed)
            assertEquals(0, currentTime)
            assertState(semaphore, available = 1)
        }

    @Test
    fun timed_zeroAndAvailable_takes() =
        runTest {
            val semaphore = semaphore(1)
            assertTrue(semaphore.tryAcquire(1, Duration.ZERO))
            assertState(semaphore, available = 0)
        }

    @Test
    fun timed_zeroAndNotAvailable_givesUpAtOnce() =
        runTest {
            val semaphore = semaphore(1, acquired = 1)
            assertFalse(semaphore.tryAcquire(1, Duration.ZERO))
            assertEquals(0, currentTime)
            assertState(semaphore, available = 0)
        }

    @Test
    fun timed_zeroBehindHeavyHead_doesNotOvertake() =
        runTest {
            val semaphore = semaphore(2, acquired = 1)
            Callers(this).call { semaphore.acquire(2) }
            assertFalse(semaphore.tryAcquire(1, Duration.ZERO))
            assertState(semaphore, available = 1, waiting = 1)
        }

    @Test
    fun timed_nobodyReleases_givesUpAtTheDeadline() =
        runTest {
            val semaphore = semaphore(3, acquired = 2)
            val caller = Callers(this).call { semaphore.tryAcquire(2, 50.milliseconds) }
            advanceTimeBy(50)
            assertTrue(caller.isWaiting)
            assertState(semaphore, available = 1, waiting = 1)
            runCurrent()
            assertTrue(caller.gaveUp)
            assertState(semaphore, available = 1)
        }

    @Test
    fun timed_releaseBeforeTheDeadline_takesThen() =
        runTest {
            val semaphore = semaphore(1, acquired = 1)
            launch {
                delay(49)
                semaphore.release()
            }
            assertTrue(semaphore.tryAcquire(1, 50.milliseconds))
            assertEquals(49, currentTime)
            advanceTimeBy(1000)
            assertState(semaphore, available = 0)
        }

    @Test
    fun timed_releaseAfterTheDeadline_permitStaysAvailable() =
        runTest {
            val semaphore = semaphore(1, acquired = 1)
            launch {
                delay(51)
                semaphore.release()
            }
            assertFalse(semaphore.tryAcquire(1, 50.milliseconds))
            assertEquals(50, currentTime)
            advanceTimeBy(2)
            assertState(semaphore, available = 1)
        }

    @Test
    fun timed_releaseAtTheDeadlineBeforeTheTimer_takes() =
        runTest {
            val semaphore = semaphore(1, acquired = 1)
            backgroundScope.launch {
                delay(50)
                semaphore.release()
            }
            runCurrent()
            assertTrue(semaphore.tryAcquire(1, 50.milliseconds))
            assertEquals(50, currentTime)
            assertState(semaphore, available = 0)
            semaphore.release()
            assertState(semaphore, available = 1)
        }

    @Test
    fun timed_releaseAtTheDeadlineAfterTheTimer_permitStaysAvailable() =
        runTest {
            val semaphore = semaphore(1, acquired = 1)
            val caller = Callers(this).call { semaphore.tryAcquire(1, 50.milliseconds) }
            launch {
                delay(50)
                semaphore.release()
            }
            advanceTimeBy(51)
            assertTrue(caller.gaveUp)
            assertState(semaphore, available = 1)
        }

    @Test
    fun timed_grantedAndDeadlinePassesBeforeItRuns_takes() =
        runTest {
            val semaphore = semaphore(1, acquired = 1)
            val caller = Callers(this).call { semaphore.tryAcquire(1, 50.milliseconds) }
            advanceTimeBy(50)
            semaphore.release()
            advanceTimeBy(100)
            assertTrue(caller.isServed)
            assertState(semaphore, available = 0)
        }

    @Test
    fun timed_infinite_waitsAsAcquireDoes() =
        runTest {
            val semaphore = semaphore(1, acquired = 1)
            val caller = Callers(this).call { semaphore.tryAcquire(1, Duration.INFINITE) }
            advanceTimeBy(36_500.days)
            assertTrue(caller.isWaiting)
            semaphore.release()
            runCurrent()
            assertTrue(caller.isServed)
        }

    @Test
    fun timed_longestFiniteDuration_waits() =
        runTest {
            val semaphore = semaphore(1, acquired = 1)
            val caller = Callers(this).call { semaphore.tryAcquire(1, (Long.MAX_VALUE / 2 - 1).milliseconds) }
            advanceTimeBy(36_500.days)
            assertTrue(caller.isWaiting)
            semaphore.release()
            runCurrent()
            assertTrue(caller.isServed)
        }

    @Test
    fun timed_belowAMillisecond_isRoundedUp() =
        runTest {
            for (timeout in listOf(1.nanoseconds, 999_999.nanoseconds, 1.milliseconds)) {
                val start = currentTime
                val semaphore = semaphore(1, acquired = 1)
                assertFalse(semaphore.tryAcquire(1, timeout))
                assertEquals(1, currentTime - start) { "$timeout" }
                assertState(semaphore, available = 0)
            }
        }

    @Test
    fun timed_fractionOfAMillisecond_isRoundedUp() =
        runTest {
            val semaphore = semaphore(1, acquired = 1)
            assertFalse(semaphore.tryAcquire(1, 2_000_001.nanoseconds))
            assertEquals(3, currentTime)
        }

    @Test
    fun timed_heavyHeadGivesUp_letsInTheSmallOnes() =
        runTest {
            val callers = Callers(this)
            val semaphore = semaphore(4, acquired = 2)
            val heavy = callers.call("heavy") { semaphore.tryAcquire(3, 50.milliseconds) }
            for (name in listOf("a", "b", "c")) callers.call(name) { semaphore.acquire() }
            assertEquals(emptyList<String>(), callers.served)
            advanceTimeBy(51)
            assertTrue(heavy.gaveUp)
            assertEquals(listOf("a", "b"), callers.served)
            assertState(semaphore, available = 0, waiting = 1)
        }

    @Test
    fun timed_middleGivesUp_keepsTheOrderOfTheOthers() =
        runTest {
            val callers = Callers(this)
            val semaphore = semaphore(1, acquired = 1)
            callers.call("a") { semaphore.acquire() }
            callers.call("timed") { semaphore.tryAcquire(1, 10.milliseconds) }
            callers.call("b") { semaphore.acquire() }
            advanceTimeBy(11)
            assertState(semaphore, available = 0, waiting = 2)
            repeat(3) {
                semaphore.release()
                runCurrent()
            }
            assertEquals(listOf("a", "b"), callers.served)
            assertState(semaphore, available = 1)
        }

    @Test
    fun timed_severalDeadlines_endOneByOne() =
        runTest {
            val semaphore = semaphore(1, acquired = 1)
            val callers = (1..5).map { Callers(this).call { semaphore.tryAcquire(1, (10 * it).milliseconds) } }
            for (i in 1..5) {
                advanceTimeBy(10)
                runCurrent()
                assertEquals(i, callers.count { it.gaveUp })
                assertState(semaphore, available = 0, waiting = 5 - i)
            }
        }

    @Test
    fun timed_cancelledWhileWaiting_throwsAndLeavesNothing() =
        runTest {
            val semaphore = semaphore(1, acquired = 1)
            val caller = Callers(this).call { semaphore.tryAcquire(1, 50.milliseconds) }
            advanceTimeBy(20)
            caller.cancel()
            runCurrent()
            assertTrue(caller.isCancelled)
            advanceTimeBy(100)
            semaphore.release()
            assertState(semaphore, available = 1)
        }

    @Test
    fun timed_cancelledBetweenGrantAndResumption_passesThePermitOn() =
        runTest {
            val callers = Callers(this)
            val semaphore = semaphore(1, acquired = 1)
            val granted = callers.call("granted") { semaphore.tryAcquire(1, 50.milliseconds) }
            val next = callers.call("next") { semaphore.tryAcquire(1, 50.milliseconds) }
            semaphore.release()
            granted.cancel()
            runCurrent()
            assertTrue(granted.isCancelled)
            assertTrue(next.isServed)
            advanceTimeBy(100)
            assertState(semaphore, available = 0)
        }

    @Test
    fun timed_alreadyCancelledAndMustWait_throwsAndLeavesNothing() =
        runTest {
            val semaphore = semaphore(1, acquired = 1)
            val caller =
                Callers(this).call {
                    currentCoroutineContext().job.cancel()
                    semaphore.tryAcquire(1, 50.milliseconds)
                }
            assertTrue(caller.isCancelled)
            assertState(semaphore, available = 0)
        }

    @Test
    fun timed_closedWhileWaiting_throwsClosed() =
        runTest {
            val cause = RuntimeException("going down")
            val semaphore = semaphore(1, acquired = 1)
            val caller = Callers(this).call { semaphore.tryAcquire(1, 50.milliseconds) }
            semaphore.close(cause)
            runCurrent()
            assertInstanceOf(SemaphoreClosedException::class.java, caller.failure)
            assertTrue(cause in caller.failure!!.causes())
            assertEquals(0, currentTime)
        }

    @Test
    fun timed_impossibleNumber_isRefusedAtOnce() =
        runTest {
            val semaphore = semaphore(3, acquired = 1)
            for (n in listOf(Int.MIN_VALUE, -1, 0, 4, Int.MAX_VALUE)) {
                val e = assertThrows<IllegalArgumentException> { semaphore.tryAcquire(n, 50.milliseconds) }
                assertContains(e.message, n)
                assertState(semaphore, available = 2)
            }
            assertEquals(0, currentTime)
        }

    @Test
    fun timed_againAndAgainOnATakenSemaphore_neverHangs() =
        runTest {
            val semaphore = semaphore(1, acquired = 1)
            repeat(500) { assertFalse(semaphore.tryAcquire(1, 1.milliseconds)) }
            assertEquals(500, currentTime)
            assertState(semaphore, available = 0)
        }
}
