package baton.sync

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue

/** What the topics of the read-write lock's contract have in common. */
interface ReadWriteFixture {
    val factory: ReadWriteLockFactory

    fun lock(policy: ReadWritePolicy = ReadWritePolicy.PHASE_FAIR, name: String? = null): ReadWriteLockFace =
        factory(policy, name)

    fun assertState(lock: ReadWriteLockFace, readers: Int = 0, written: Boolean = false, waiting: Int = 0) {
        val state = "readers = ${lock.readers}, written = ${lock.isWriteLocked}, waiting = ${lock.waiting}"
        assertEquals("readers = $readers, written = $written, waiting = $waiting", state)
    }

    /** Nobody is in and nobody waits, and the lock can be had in every way. */
    fun assertFree(lock: ReadWriteLockFace) {
        assertState(lock)
        assertEquals("null []", "${lock.writeHolder} ${lock.readHolders}")
        assertTrue(lock.tryLockWrite())
        lock.unlockWrite()
        assertTrue(lock.tryLockRead() && lock.tryLockUpgradable())
        lock.unlockRead()
        lock.unlockUpgradable()
        assertState(lock)
    }

    fun assertContains(message: String?, vararg parts: Any) {
        for (part in parts) {
            assertTrue(message.orEmpty().contains(part.toString())) { "\"$message\" does not contain $part" }
        }
    }
}
