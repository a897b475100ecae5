package baton.sync.semaphore.contract

import baton.sync.SemaphoreClosedException
import baton.sync.assertContains
import baton.sync.assertState
import baton.waiting.causes
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** The end of a semaphore; for its waiters, see the WaiterContract. */
interface SemaphoreClosing : SemaphoreFixture {
    @Test
    fun close_newcomers_getClosedWithTheFirstCause() = runTest {
        val cause = RuntimeException("going down")
        val second = RuntimeException("second")
        val semaphore = semaphore(3, acquired = 1, name = "uplink")
        semaphore.close(cause)
        semaphore.close(second)
        semaphore.close()
        repeat(10) {
            for (n in 1..3) {
                val calls = listOf<suspend () -> Any?>({ semaphore.acquire(n) }, { semaphore.tryAcquire(n) })
                for (call in calls) {
                    val e = assertThrows<SemaphoreClosedException> { call() }
                    assertInstanceOf(IllegalStateException::class.java, e)
                    assertContains(e.message, "uplink", "closed")
                    assertTrue(cause in e.causes())
                    assertFalse(second in e.causes())
                    assertState(semaphore, available = 2)
                }
            }
        }
        semaphore.release()
        assertState(semaphore, available = 3)
        assertThrows<IllegalStateException> { semaphore.release() }
    }

    @Test
    fun close_holders_mayStillReleaseWhatTheyHold() {
        val semaphore = semaphore(3)
        assertTrue(semaphore.tryAcquire(2) && semaphore.tryAcquire())
        semaphore.close()
        semaphore.release()
        assertState(semaphore, available = 1)
        assertThrows<IllegalStateException> { semaphore.release(3) }
        semaphore.release(2)
        for (n in listOf(1, 3, Int.MAX_VALUE)) {
            assertThrows<IllegalStateException> { semaphore.release(n) }
            assertState(semaphore, available = 3)
        }
    }

    @Test
    fun close_heavyHeadHadSomeInReserve_theyAreAvailable() =
        scene(5, acquired = 3) {
            acquire("heavy" to 4, "small" to 1)
            release()
            semaphore.close()
            assert("", available = 3)
            release(2)
            assert("", available = 5)
        }

    @Test
    fun awaitIdle_closedBeforeOrMeanwhile_stillWaitsForHolders() {
        for (isClosedBefore in listOf(true, false)) {
            scene(2, acquired = 2) {
                if (isClosedBefore) semaphore.close(RuntimeException("going down"))
                awaitIdle()
                if (!isClosedBefore) semaphore.close(RuntimeException("going down"))
                release()
                assert("", available = 1)
                release()
                assert("idler", available = 2)
                semaphore.awaitIdle()
            }
        }
    }
}
