package baton.sync

import baton.waiting.Callers
import baton.waiting.FakeWaiter
import baton.waiting.Waiter
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/**
 * The last permit comes back while somebody who is cancelled has announced that it wants it, and does not stand in the line
 * yet: the release finds the semaphore not idle, and so it is the leaver who has to say it. Nobody did: awaitIdle hung.
 */
class IdlenessAfterCancelTest {
    private val semaphore = Semaphore(1, acquired = 1)

    @Test
    fun announcementIsTakenBack_awaitIdleReturns() =
        runTest {
            val idler = Callers(this).call { semaphore.awaitIdle() }
            assertFalse(semaphore.core.take(1))
            semaphore.release()
            runCurrent()
            assertTrue(idler.isWaiting)
            semaphore.core.unannounce(1)
            runCurrent()
            assertTrue(idler.isServed)
            assertEquals(1, semaphore.availablePermits)
        }

    @Test
    fun announcedAndWithdrawnBeforeItIsEnqueued_awaitIdleReturns() =
        runTest {
            val idler = Callers(this).call { semaphore.awaitIdle() }
            assertFalse(semaphore.core.take(1))
            semaphore.release()
            assertEquals(Waiter.CANCELLED, enqueueWithdrawn())
            runCurrent()
            assertTrue(idler.isServed)
            assertEquals(1, semaphore.availablePermits)
        }

    @Test
    fun closedMeanwhile_announcementIsDropped_awaitIdleReturns() =
        runTest {
            val idler = Callers(this).call { semaphore.awaitIdle() }
            assertFalse(semaphore.core.take(1))
            semaphore.release()
            semaphore.close()
            assertEquals(Waiter.CANCELLED, enqueueWithdrawn())
            runCurrent()
            assertTrue(idler.isServed)
            assertEquals(1, semaphore.availablePermits)
        }

    private fun enqueueWithdrawn(): Int {
        val waiter = FakeWaiter(semaphore.core)
        waiter.withdraw(Waiter.CANCELLED)
        return semaphore.core.enqueue(waiter, announced = true)
    }
}
