package baton.sync.semaphore

import baton.sync.Semaphore
import baton.sync.SemaphoreClosedException
import baton.sync.assertState
import baton.sync.countdown.assertState
import baton.waiting.Caller
import baton.waiting.Callers
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.job
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** Exceptions thrown into a `select` that cannot go on, and events while it is still registering its clauses. */
class SemaphoreSelectRegistrationTest {
    @Test
    fun onAcquire_tooHeavy_throwsAndLeavesTheOtherClausesUnregistered() =
        runTest {
            val fine = Semaphore(1, acquired = 1)
            val small = Semaphore(2, acquired = 1)
            for (n in listOf(Int.MIN_VALUE, -1, 0, 3, Int.MAX_VALUE)) {
                assertThrows<IllegalArgumentException> {
                    select {
                        fine.onAcquire { }
                        small.onAcquire(n) { }
                        fine.onAcquire { }
                    }
                }
                assertState(fine, available = 0)
                assertState(small, available = 1)
            }
        }

    @Test
    fun onAcquire_closed_throwsAndLeavesTheOtherClausesUnregistered() =
        runTest {
            val fine = Semaphore(1, acquired = 1)
            val closed = Semaphore(2).also { it.close() }
            assertThrows<SemaphoreClosedException> {
                select {
                    fine.onAcquire { }
                    closed.onAcquire { }
                }
            }
            assertState(fine, available = 0)
            assertState(closed, available = 2)
        }

    @Test
    fun onAcquire_closedWhileWaiting_throwsAndLeavesTheOtherQueue() =
        runTest {
            val fine = Semaphore(1, acquired = 1)
            val closing = Semaphore(1, acquired = 1)
            val selector =
                Callers(this).call {
                    select {
                        fine.onAcquire { }
                        closing.onAcquire { }
                    }
                }
            closing.close()
            runCurrent()
            assertInstanceOf(SemaphoreClosedException::class.java, selector.failure)
            assertState(fine, available = 0)
        }

    @Test
    fun onAcquire_releasedWhileStillRegistering_isRegisteredAgainAndWins() =
        runTest {
            val semaphore = Semaphore(1, acquired = 1)
            val other = Semaphore(1, acquired = 1)
            val won =
                select {
                    semaphore.onAcquire { "permit" }
                    semaphore.release()
                    other.onAcquire { "other" }
                }
            assertEquals("permit", won)
            assertState(semaphore, available = 0)
            assertState(other, available = 0)
        }

    @Test
    fun onAcquire_releasedWhileStillRegisteringAndAnotherClauseWins_permitIsPassedOn() =
        runTest {
            val callers = Callers(this)
            val semaphore = Semaphore(1, acquired = 1)
            val ready = CompletableDeferred(Unit)
            var next: Caller? = null
            select {
                semaphore.onAcquire { }
                next = callers.callAtOnce { semaphore.acquire() }
                ready.onAwait { }
                semaphore.release()
            }
            runCurrent()
            assertTrue(next!!.isServed)
            assertState(semaphore, available = 0)
        }

    @Test
    fun onAcquire_closedWhileStillRegistering_throws() =
        runTest {
            val semaphore = Semaphore(1, acquired = 1)
            val other = Semaphore(1, acquired = 1)
            assertThrows<SemaphoreClosedException> {
                select {
                    semaphore.onAcquire { }
                    semaphore.close()
                    other.onAcquire { }
                }
            }
            assertState(semaphore, available = 0)
            assertState(other, available = 0)
        }

    @Test
    fun onAcquire_resizedWhileStillRegistering_throwsTooHeavy() =
        runTest {
            val semaphore = Semaphore(3, acquired = 3)
            assertThrows<IllegalArgumentException> {
                select {
                    semaphore.onAcquire(3) { }
                    semaphore.resize(2)
                }
            }
            assertState(semaphore, available = 0)
        }

    @Test
    fun onAcquire_alreadyCancelled_takesWhatIsFreeAndElseLeavesNothing() =
        runTest {
            for (acquired in 0..1) {
                val semaphore = Semaphore(1, acquired)
                val selector =
                    Callers(this).call {
                        currentCoroutineContext().job.cancel()
                        select { semaphore.onAcquire { } }
                    }
                assertEquals(acquired == 0, selector.isServed)
                assertState(semaphore, available = 0)
            }
        }
}
