package baton.sync

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue

/** What the topics of the mutex's contract have in common. */
interface MutexFixture {
    val factory: MutexFactory

    fun mutex(locked: Boolean = false, name: String? = null): MutexFace = factory(locked, name)

    fun assertState(mutex: MutexFace, isLocked: Boolean, waiting: Int = 0) {
        val state = "locked = ${mutex.isLocked}, waiting = ${mutex.waiting}"
        assertEquals("locked = $isLocked, waiting = $waiting", state)
    }

    fun assertContains(message: String?, vararg parts: Any) {
        for (part in parts) {
            assertTrue(message.orEmpty().contains(part.toString())) { "\"$message\" does not contain $part" }
        }
    }
}

/**
 * What a mutex promises, whoever asks: a suspend function, a `select`, a future, or all of them in one queue. It
 * consists of topics: a face that cannot do one of them (say [MutexOwners]) implements the others.
 */
abstract class MutexContract(override val factory: MutexFactory) :
    MutexQueue,
    MutexCancellation,
    MutexOwners
