package baton.sync.semaphore

import baton.sync.Semaphore
import baton.waiting.Callers
import baton.waiting.FakeWaiter
import baton.waiting.Waiter
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/**
 * A waiter that was cancelled before it is enqueued takes its demand back in the step that counted it. It leaves
 * nothing that would keep [Semaphore.awaitIdle] waiting.
 */
class IdlenessAfterCancelTest {
    private val semaphore = Semaphore(1, acquired = 1)

    @Test
    fun enqueue_withdrawnBefore_awaitIdleReturnsAtTheRelease() = runTest {
        val idler = Callers(this).call { semaphore.awaitIdle() }
        assertEquals(Waiter.CANCELLED, enqueueWithdrawn())
        assertTrue(idler.isWaiting)
        semaphore.release()
        runCurrent()
        assertTrue(idler.isServed)
        assertEquals(1, semaphore.availablePermits)
    }

    @Test
    fun enqueue_withdrawnBeforeAndClosed_awaitIdleReturnsAtTheRelease() = runTest {
        val idler = Callers(this).call { semaphore.awaitIdle() }
        semaphore.close()
        assertEquals(Waiter.CANCELLED, enqueueWithdrawn())
        semaphore.release()
        runCurrent()
        assertTrue(idler.isServed)
        assertEquals(1, semaphore.availablePermits)
    }

    private fun enqueueWithdrawn(): Int {
        val waiter = FakeWaiter(semaphore.core)
        waiter.withdraw(Waiter.CANCELLED)
        return semaphore.core.enqueue(waiter)
    }
}
