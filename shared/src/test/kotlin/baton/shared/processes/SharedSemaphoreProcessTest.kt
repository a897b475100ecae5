package baton.shared.processes

import baton.shared.SharedRegion
import baton.shared.SharedSemaphore
import java.time.Duration
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNotNull
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Test

class SharedSemaphoreProcessTest : ChildProcesses() {
    private fun withSemaphore(test: (SharedSemaphore) -> Unit) =
        SharedRegion.open(path).use { test(it.semaphore("s", permits = 3)) }

    private fun startHolder(permits: Int) = start("permits", "$permits").also { it.expect("acquired") }

    @Test
    fun permits_ofAKilledProcess_comeBackToAWaiter() = withSemaphore { semaphore ->
        val holder = startHolder(2)
        assertEquals(1, semaphore.availablePermits)
        assertNull(semaphore.acquireBlocking(2, Duration.ofMillis(50)))
        kill(holder)
        semaphore.acquireBlocking(3).close()
        assertEquals(3, semaphore.availablePermits)
    }

    @Test
    fun permits_ofAKilledProcess_comeBackToACallerThatTries() = withSemaphore { semaphore ->
        kill(startHolder(3))
        val deadline = System.nanoTime() + 120_000_000_000
        var permit = semaphore.tryAcquire(3)
        while (permit == null && System.nanoTime() < deadline) permit = semaphore.tryAcquire(3)
        assertNotNull(permit)
    }

    @Test
    fun holders_areTheProcesses_andADeadOneUntilItsPermitsAreTaken() = withSemaphore { semaphore ->
        val holder = startHolder(2)
        semaphore.acquireBlocking().use {
            assertEquals(mapOf(holder.pid() to 2, ProcessHandle.current().pid() to 1), semaphore.holders())
        }
        assertEquals(mapOf(holder.pid() to 2), semaphore.holders())
        kill(holder)
        assertEquals(mapOf(holder.pid() to 2), semaphore.holders())
        semaphore.acquireBlocking(3).close()
        assertEquals(emptyMap<Long, Int>(), semaphore.holders())
    }

    @Test
    fun permits_ofManyKilledProcesses_comeBack() = withSemaphore { semaphore ->
        val holders = List(3) { startHolder(1) }
        assertEquals(0, semaphore.availablePermits)
        holders.forEach(::kill)
        semaphore.acquireBlocking(3).close()
    }

    @Test
    fun permits_ofAPausedProcess_stayWithIt() = withSemaphore { semaphore ->
        val holder = startHolder(3)
        signal("STOP", holder)
        assertNull(semaphore.acquireBlocking(1, Duration.ofMillis(500)))
        kill(holder)
        semaphore.acquireBlocking(1).close()
    }

    @Test
    fun waiter_thatIsKilled_leavesNothingBehind() = withSemaphore { semaphore ->
        val permit = semaphore.acquireBlocking(3)
        val waiter = start("permits", "1", "announced")
        waiter.expect("waiting")
        kill(waiter)
        permit.close()
        semaphore.acquireBlocking(3).close()
    }
}
