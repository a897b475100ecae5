package baton.sync.semaphore

import baton.sync.Semaphore
import baton.sync.assertState
import baton.sync.countdown.assertState
import baton.sync.withPermit
import baton.waiting.Callers
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.advanceTimeBy
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Bugs that have been shipped elsewhere, as far as the contract does not cover them already. */
class SemaphoreScenarioTest {
    /** vs-threading #1000: cancelling within the handler that acquire registers met acquire's own lock. */
    @Test
    fun cancel_fromAnotherWaitersResumption_doesNotMeetAnInnerLock() = runTest {
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

    /** x/sync TestLargeAcquireDoesntStarve: small users in a loop kept the big one waiting for ever. */
    @Test
    fun acquire_allWhileSmallUsersLoop_isServedInBoundedTime() = runTest {
        val n = 5
        val semaphore = Semaphore(n)
        repeat(n) { backgroundScope.launch { while (true) semaphore.withPermit { delay(10) } } }
        runCurrent()
        assertTrue(semaphore.tryAcquire(n, 20.milliseconds))
        assertState(semaphore, available = 0, waiting = n)
    }

    /** x/sync 1122301: releasing more than held said nothing of use. */
    @Test
    fun release_moreThanHeld_messageSaysWhatIsWrong() {
        val semaphore = Semaphore(5, acquired = 1, name = "uplink")
        val e = assertThrows(IllegalStateException::class.java) { semaphore.release(2) }
        for (part in listOf("permits = 2", "uplink", "available = 4")) assertTrue(part in e.message!!) { e.message!! }
    }

    /** JDK-6241823: timed acquires of a contended semaphore hung now and then. */
    @Test
    fun timed_manyContend_everyOneEndsByItsDeadline() = runTest {
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
