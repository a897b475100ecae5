package baton.shared

import baton.runBlockingOfAnyKotlinx
import baton.shared.bridge.coreOf
import baton.shared.bridge.lockGranted
import baton.waiting.ThreadWaiter
import java.util.concurrent.CompletableFuture
import java.util.concurrent.TimeUnit.SECONDS
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.Job
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNotNull
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** How a future waits for another process by kotlinx's Delay. */
class SharedKotlinxProbe : TwoMembers() {
    private class Wait(mutex: SharedMutex) {
        val lock = CompletableFuture<SharedLock>()
        val failure = CompletableFuture<Throwable>()
        val job: Job

        init {
            assertTrue(enterQueue(mutex))
            job =
                lockGranted(mutex) { taken, error ->
                    if (taken != null) lock.complete(taken)
                    if (error != null) failure.complete(error)
                }
        }
    }

    @Test
    fun wait_forAnotherMember_endsWithItsUnlock() = runBlockingOfAnyKotlinx {
        val held = here.mutex("m").lock()
        val wait = Wait(there.mutex("m"))
        SECONDS.sleep(1) // Long enough for a slice that is a delay.
        assertNull(wait.lock.getNow(null))
        held.close()
        wait.lock.get(120, SECONDS).close()
        assertNotNull(here.mutex("m").tryLock())
    }

    @Test
    fun wait_thatIsCancelled_leavesTheQueueToTheNextCaller() = runBlockingOfAnyKotlinx {
        here.mutex("m").lock()
        val wait = Wait(there.mutex("m"))
        SECONDS.sleep(1)
        wait.job.cancel(CancellationException("not needed"))
        assertEquals("not needed", wait.failure.get(120, SECONDS).message)
        assertTrue(enterQueue(there.mutex("m")))
    }

    private companion object {
        /** False if another caller stays at the head. */
        fun enterQueue(mutex: SharedMutex): Boolean =
            ThreadWaiter(coreOf(mutex), 1, null, mutex).await(SECONDS.toNanos(120))
    }
}
