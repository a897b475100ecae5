package baton.sync.semaphore

import baton.sync.Semaphore
import baton.sync.assertState
import baton.sync.countdown.assertState
import baton.sync.withPermit
import baton.sync.withPermits
import baton.waiting.Callers
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.advanceTimeBy
import kotlinx.coroutines.test.advanceUntilIdle
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withTimeoutOrNull
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Bugs that have been shipped elsewhere, as far as the contract does not cover them already. */
class SemaphoreScenarioTest {
    /** kotlinx.coroutines #1422: the number acquired at the start was ignored by release. */
    @Test
    fun release_acquiredFromTheStart_becomesAvailable() {
        val semaphore = Semaphore(permits = 1, acquired = 1)
        semaphore.release()
        assertState(semaphore, available = 1)
    }

    /** kotlinx.coroutines #2380, #2390: a permit that became free on the way into the queue was lost by a cancel. */
    @Test
    fun acquire_releasedAndCancelledInEveryOrder_allPermitsAreBack() =
        runTest {
            repeat(1_000) { i ->
                val semaphore = Semaphore(1, acquired = 1)
                val waiter = Callers(this).callAtOnce { semaphore.acquire() }
                if (i % 2 == 0) semaphore.release()
                waiter.cancel()
                if (i % 2 == 1) semaphore.release()
                if (i % 3 == 0) Callers(this).callAtOnce { semaphore.withPermit { } }
                runCurrent()
                assertState(semaphore, available = 1)
            }
        }

    /** tokio PR #3644: the check against the maximum looked at the added permits only, not at the sum. */
    @Test
    fun release_sumAboveThePermits_isRefused() {
        val semaphore = Semaphore(Int.MAX_VALUE, acquired = 2)
        assertThrows(IllegalStateException::class.java) { semaphore.release(3) }
        assertState(semaphore, available = Int.MAX_VALUE - 2)
    }

    /**
     * tokio PR #795: a permit allotted to a task that was not running yet blocked the task that had to run before it.
     */
    @Test
    fun acquire_allottedTaskCannotRunYet_othersUseTheOtherPermit() =
        runTest {
            val gate = CompletableDeferred<Unit>()
            val semaphore = Semaphore(2, acquired = 2)
            val blocked =
                Callers(this).call("blocked") {
                    semaphore.acquire()
                    gate.await()
                }
            semaphore.release(2)
            assertTrue(semaphore.tryAcquire())
            gate.complete(Unit)
            runCurrent()
            assertTrue(blocked.isServed)
        }

    /** python/asyncio #270: the woken task was cancelled before it ran, and no other task was woken. */
    @Test
    fun cancel_wokenBeforeItRan_wakesTheNext() =
        runTest {
            val semaphore = Semaphore(1, acquired = 1)
            val a = Callers(this).call { semaphore.acquire() }
            val b = Callers(this).call { semaphore.acquire() }
            semaphore.release()
            a.cancel()
            runCurrent()
            assertTrue(b.isServed)
        }

    /** vs-threading #1000: cancelling within the handler that acquire registers met acquire's own lock. */
    @Test
    fun cancel_fromAnotherWaitersResumption_doesNotMeetAnInnerLock() =
        runTest {
            val semaphore = Semaphore(2, acquired = 2)
            val victims = mutableListOf<Job>()
            repeat(3) { victims += launch { semaphore.acquire() } }
            runCurrent()
            val killer =
                Callers(this).callAtOnce(context = Dispatchers.Unconfined) {
                    semaphore.acquire()
                    semaphore.release()
                }
            victims[0].invokeOnCompletion { victims[1].cancel() }
            victims[1].invokeOnCompletion { victims[2].cancel() }
            victims[0].cancel()
            runCurrent()
            assertState(semaphore, available = 0, waiting = 1)
            semaphore.release()
            assertTrue(killer.isServed)
            assertState(semaphore, available = 1)
        }

    /** natesilva/p-ratelimit PR #25: a task that timed out before its start kept its slot. */
    @Test
    fun timeout_beforeTheBlockStarted_slotIsFreeForTheNext() =
        runTest {
            val semaphore = Semaphore(1)
            val long = launch { semaphore.withPermit { delay(100) } }
            runCurrent()
            assertEquals(null, withTimeoutOrNull(50) { semaphore.withPermit { } })
            assertState(semaphore, available = 0)
            long.join()
            assertEquals(100, currentTime)
            semaphore.withPermit { }
            assertState(semaphore, available = 1)
        }

    /** x/sync TestLargeAcquireDoesntStarve: small users in a loop kept the big one waiting for ever. */
    @Test
    fun acquire_allWhileSmallUsersLoop_isServedInBoundedTime() =
        runTest {
            val n = 5
            val semaphore = Semaphore(n)
            repeat(n) {
                backgroundScope.launch {
                    while (true) semaphore.withPermit { delay(10) }
                }
            }
            runCurrent()
            assertTrue(semaphore.tryAcquire(n, 20.milliseconds))
            assertState(semaphore, available = 0, waiting = n)
        }

    /** zio #11187: a request for more than there is hung, and the semaphore with it. */
    @Test
    fun acquire_moreThanThereIs_failsAndOthersGoOn() =
        runTest {
            val semaphore = Semaphore(2)
            assertThrows(IllegalArgumentException::class.java) { semaphore.tryAcquire(5) }
            val refused = Callers(this).call { semaphore.withPermits(5) { } }
            assertTrue(refused.failure is IllegalArgumentException)
            semaphore.withPermit { semaphore.withPermit { } }
            assertState(semaphore, available = 2)
        }

    /** cats-effect PR #403: a request for N that had received k of them was cancelled, and the k were lost. */
    @Test
    fun cancel_afterKofNHaveComeBack_allKAreAvailable() =
        runTest {
            val n = 6
            for (k in 0..<n) {
                val semaphore = Semaphore(n, acquired = n)
                val heavy = Callers(this).call { semaphore.acquire(n) }
                repeat(k) { semaphore.release() }
                heavy.cancel()
                runCurrent()
                assertState(semaphore, available = k)
            }
        }

    /** awslabs/shuttle PR #167: the head gave up, and the waiters that now fitted were not granted. */
    @Test
    fun cancel_headGivesUp_thoseWhoNowFitAreServed() =
        runTest {
            val callers = Callers(this)
            val semaphore = Semaphore(3, acquired = 1)
            val head = callers.call("head") { semaphore.acquire(3) }
            callers.call("a") { semaphore.acquire() }
            callers.call("b") { semaphore.acquire() }
            head.cancel()
            runCurrent()
            assertEquals(listOf("a", "b"), callers.served)
        }

    /** x/sync 1122301: releasing more than held said nothing of use. */
    @Test
    fun release_moreThanHeld_messageSaysWhatIsWrong() {
        val semaphore = Semaphore(5, acquired = 1, name = "uplink")
        val e = assertThrows(IllegalStateException::class.java) { semaphore.release(2) }
        for (part in listOf("permits = 2", "uplink", "available = 4")) assertTrue(part in e.message!!) { e.message!! }
    }

    /** resilience4j ConcurrentBulkheadTest: after two acquirers met, the count of free permits was wrong. */
    @Test
    fun tryAcquire_twoForOnePermit_oneGetsItAndTheCountIsExact() {
        val semaphore = Semaphore(1)
        assertEquals(listOf(true, false), List(2) { semaphore.tryAcquire() })
        assertState(semaphore, available = 0)
        semaphore.release()
        assertState(semaphore, available = 1)
    }

    /** Release counted before it threw. */
    @Test
    fun release_refused_hasNotCounted() {
        val semaphore = Semaphore(2)
        repeat(10) { assertThrows(IllegalStateException::class.java) { semaphore.release() } }
        assertTrue(semaphore.tryAcquire(2))
        assertFalse(semaphore.tryAcquire())
    }

    /** Seeds 000 and 001: a small newcomer took the permits that the heavy one waited for, again and again. */
    @Test
    fun acquire_smallOnesKeepComing_heavyOneIsNotStarved() =
        runTest {
            val semaphore = Semaphore(3, acquired = 3)
            val heavy = Callers(this).call { semaphore.acquire(3) }
            repeat(3) {
                Callers(this).call { semaphore.withPermit { } }
                semaphore.release()
                runCurrent()
            }
            assertTrue(heavy.isServed)
        }

    /** A request for more than the maximum waited for ever, against its own comment. */
    @Test
    fun acquire_aboveTheMaximum_doesNotWait() =
        runTest {
            val semaphore = Semaphore(3)
            val caller = Callers(this).callAtOnce { semaphore.acquire(4) }
            assertTrue(caller.failure is IllegalArgumentException)
            assertState(semaphore, available = 3)
        }

    /** Nothing bounded release from above. */
    @Test
    fun release_again_doesNotAddPermits() {
        val semaphore = Semaphore(1, acquired = 1)
        semaphore.release()
        repeat(3) { assertThrows(IllegalStateException::class.java) { semaphore.release() } }
        assertState(semaphore, available = 1)
    }

    /** The resumed waiter was not counted; a limit of 2 admitted 7. */
    @Test
    fun withPermit_manyMoreThanTheLimit_neverMoreInsideThanTheLimit() =
        runTest {
            val semaphore = Semaphore(2)
            var inside = 0
            var most = 0
            var done = 0
            repeat(50) { i ->
                launch {
                    semaphore.withPermit {
                        most = maxOf(most, ++inside)
                        delay(1L + i % 7)
                        inside--
                        done++
                    }
                }
            }
            advanceUntilIdle()
            assertEquals("50 done, 2 at most", "$done done, $most at most")
            assertState(semaphore, available = 2)
        }

    /** JDK-6241823: timed acquires of a contended semaphore hung now and then. */
    @Test
    fun timed_manyContend_everyOneEndsByItsDeadline() =
        runTest {
            val semaphore = Semaphore(1)
            val callers =
                List(100) { i ->
                    Callers(this).call {
                        val taken = semaphore.tryAcquire(1, (i % 10).milliseconds)
                        if (taken) {
                            delay(3)
                            semaphore.release()
                        }
                        taken
                    }
                }
            advanceTimeBy(20)
            assertTrue(callers.none { it.isWaiting })
            assertState(semaphore, available = 1)
        }
}
