package baton.sync.semaphore

import baton.sync.Semaphore
import baton.sync.SemaphoreClosedException
import baton.sync.withPermit
import baton.sync.withPermits
import baton.waiting.Callers
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.delay
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withTimeout
import kotlinx.coroutines.withTimeoutOrNull
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Assertions.fail
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** Permits that are given back however the block ends. */
class WithPermitTest {
    private val semaphore = Semaphore(5)

    @Test
    fun withPermit_blockReturns_givesBackAndReturnsItsValue() =
        runTest {
            assertEquals(4, semaphore.withPermit { semaphore.availablePermits })
            assertEquals(5, semaphore.availablePermits)
        }

    @Test
    fun withPermits_blockReturns_givesBackAll() =
        runTest {
            assertEquals(2, semaphore.withPermits(3) { semaphore.availablePermits })
            assertEquals(5, semaphore.availablePermits)
        }

    @Test
    fun withPermits_blockThrows_givesBackAndThrowsIt() =
        runTest {
            val failure = RuntimeException("from the block")
            assertSame(failure, assertThrows<RuntimeException> { semaphore.withPermit { throw failure } })
            assertSame(failure, assertThrows<RuntimeException> { semaphore.withPermits(3) { throw failure } })
            assertEquals(5, semaphore.availablePermits)
        }

    @Test
    fun withPermits_blockIsCancelled_givesBack() =
        runTest {
            val holder = Callers(this).call { semaphore.withPermits(3) { awaitCancellation() } }
            assertEquals(2, semaphore.availablePermits)
            holder.cancel()
            runCurrent()
            assertTrue(holder.isCancelled)
            assertEquals(5, semaphore.availablePermits)
        }

    @Test
    fun withPermits_blockTimesOut_givesBack() =
        runTest {
            assertNull(withTimeoutOrNull(10) { semaphore.withPermits(5) { delay(20) } })
            assertEquals(5, semaphore.availablePermits)
        }

    @Test
    fun withPermits_nonLocalReturn_givesBack() =
        runTest {
            assertEquals("found", findsInside())
            assertEquals(5, semaphore.availablePermits)
        }

    private suspend fun findsInside(): String {
        semaphore.withPermit {
            semaphore.withPermits(2) {
                if (semaphore.availablePermits == 2) return "found"
            }
        }
        return "not found"
    }

    @Test
    fun withPermit_breakAndContinue_giveBack() =
        runTest {
            for (i in 1..3) {
                semaphore.withPermit {
                    if (i == 1) continue
                    if (i == 2) break
                }
            }
            assertEquals(5, semaphore.availablePermits)
        }

    @Test
    fun withPermit_valueAssignedInside_isKnownToBeAssigned() =
        runTest {
            val value: Int
            semaphore.withPermit { value = semaphore.availablePermits }
            assertEquals(4, value)
        }

    @Test
    fun withPermits_cancelledWhileWaiting_blockDoesNotRun() =
        runTest {
            semaphore.acquire(3)
            val waiter = Callers(this).call { semaphore.withPermits(3) { fail("ran") } }
            waiter.cancel()
            runCurrent()
            assertTrue(waiter.isCancelled)
            assertEquals(2, semaphore.availablePermits)
        }

    @Test
    fun withPermits_cancelledBetweenGrantAndResumption_blockDoesNotRunAndNothingIsLost() =
        runTest {
            semaphore.acquire(5)
            val waiter = Callers(this).call { semaphore.withPermits(3) { fail("ran") } }
            semaphore.release(5)
            waiter.cancel()
            runCurrent()
            assertTrue(waiter.isCancelled)
            assertEquals(5, semaphore.availablePermits)
        }

    @Test
    fun withPermits_timesOutWhileWaiting_givesUpItsPlace() =
        runTest {
            semaphore.acquire(3)
            assertThrows<CancellationException> { withTimeout(10) { semaphore.withPermits(3) { fail("ran") } } }
            assertEquals("2 of 5, 0 wait", semaphore.run { "$availablePermits of $permits, $waiting wait" })
        }

    @Test
    fun withPermits_impossibleNumber_isRefusedAndBlockDoesNotRun() =
        runTest {
            for (n in listOf(Int.MIN_VALUE, -1, 0, 6, Int.MAX_VALUE)) {
                assertThrows<IllegalArgumentException> { semaphore.withPermits(n) { fail("ran") } }
            }
            assertEquals(5, semaphore.availablePermits)
        }

    @Test
    fun withPermit_closed_blockDoesNotRun() =
        runTest {
            semaphore.close()
            assertThrows<SemaphoreClosedException> { semaphore.withPermit { fail("ran") } }
        }

    @Test
    fun withPermit_closedMeanwhile_givesBack() =
        runTest {
            semaphore.withPermit { semaphore.close() }
            assertEquals(5, semaphore.availablePermits)
            semaphore.awaitIdle()
        }

    @Test
    fun withPermits_shrunkMeanwhile_givesBack() =
        runTest {
            semaphore.withPermits(4) { semaphore.resize(2) }
            assertEquals(2, semaphore.availablePermits)
        }
}
