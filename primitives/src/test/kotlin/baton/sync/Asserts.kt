package baton.sync

import baton.sync.mutex.MutexFace
import baton.sync.semaphore.contract.KotlinSemaphoreFace
import baton.sync.semaphore.contract.SemaphoreFace
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue

// Assertions of many tests on a semaphore, a mutex or a message. A failure shows the whole state.

fun assertState(semaphore: SemaphoreFace, available: Int, waiting: Int = 0) {
    val state = "available = ${semaphore.available}, waiting = ${semaphore.waiting}"
    assertEquals("available = $available, waiting = $waiting", state)
}

fun assertState(semaphore: Semaphore, available: Int, waiting: Int = 0) =
    assertState(KotlinSemaphoreFace(semaphore), available, waiting)

fun assertState(mutex: MutexFace, isLocked: Boolean, waiting: Int = 0) {
    val state = "locked = ${mutex.isLocked}, waiting = ${mutex.waiting}"
    assertEquals("locked = $isLocked, waiting = $waiting", state)
}

fun assertContains(message: String?, vararg parts: Any) {
    for (part in parts) {
        assertTrue(message.orEmpty().contains(part.toString())) { "\"$message\" does not contain $part" }
    }
}
