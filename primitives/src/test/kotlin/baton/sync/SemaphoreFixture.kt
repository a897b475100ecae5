package baton.sync

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue

/** What the topics of the semaphore's contract have in common. */
interface SemaphoreFixture {
    val factory: SemaphoreFactory

    fun semaphore(
        permits: Int,
        acquired: Int = 0,
        order: WaitOrder = WaitOrder.FIFO,
        name: String? = null,
    ): SemaphoreFace = factory(permits, acquired, order, name)

    fun assertState(semaphore: SemaphoreFace, available: Int, waiting: Int = 0) {
        val state = "available = ${semaphore.available}, waiting = ${semaphore.waiting}"
        assertEquals("available = $available, waiting = $waiting", state)
    }

    fun assertContains(message: String?, vararg parts: Any) {
        for (part in parts) {
            assertTrue(message.orEmpty().contains(part.toString())) { "\"$message\" does not contain $part" }
        }
    }
}

/**
 * What a semaphore promises, whoever asks: a suspend function, a `select`, a future, or all of them in one queue.
 *
 * It consists of topics, interfaces of their own: a face that cannot do one of them (say [SemaphoreTimeouts], which
 * needs virtual time) implements the others.
 */
abstract class SemaphoreContract(override val factory: SemaphoreFactory) :
    SemaphoreCounts,
    SemaphoreQueue,
    SemaphoreCancellation,
    SemaphoreResizing,
    SemaphoreClosing,
    SemaphoreIdleness,
    SemaphorePriorities,
    SemaphoreUnfairness
