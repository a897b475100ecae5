package baton.sync.readwrite.contract

import baton.sync.ReadWritePolicy
import kotlin.time.Duration
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

    /** Nobody is in, nobody waits, and it can be had in every way. */
    fun assertFree(lock: ReadWriteLockFace) {
        assertState(lock)
        assertEquals("null []", "${lock.writeHolder} ${lock.readHolders}")
        assertTrue(lock.tryLockWrite())
        lock.unlockWrite()
        assertTrue(lock.tryLockUpgradable() && lock.tryLockRead())
        lock.unlockRead()
        lock.unlockUpgradable()
        assertState(lock)
    }
}

/** What one may lock it for. */
enum class Access {
    READ {
        override suspend fun lock(lock: ReadWriteLockFace, owner: Any?) = lock.lockRead(owner)

        override suspend fun tryLock(lock: ReadWriteLockFace, timeout: Duration, owner: Any?) =
            lock.tryLockRead(timeout, owner)

        override fun tryLock(lock: ReadWriteLockFace, owner: Any?) = lock.tryLockRead(owner)

        override fun unlock(lock: ReadWriteLockFace, owner: Any?) = lock.unlockRead(owner)
    },

    WRITE {
        override suspend fun lock(lock: ReadWriteLockFace, owner: Any?) = lock.lockWrite(owner)

        override suspend fun tryLock(lock: ReadWriteLockFace, timeout: Duration, owner: Any?) =
            lock.tryLockWrite(timeout, owner)

        override fun tryLock(lock: ReadWriteLockFace, owner: Any?) = lock.tryLockWrite(owner)

        override fun unlock(lock: ReadWriteLockFace, owner: Any?) = lock.unlockWrite(owner)
    },

    UPGRADABLE {
        override suspend fun lock(lock: ReadWriteLockFace, owner: Any?) = lock.lockUpgradable(owner)

        override suspend fun tryLock(lock: ReadWriteLockFace, timeout: Duration, owner: Any?) =
            lock.tryLockUpgradable(timeout, owner)

        override fun tryLock(lock: ReadWriteLockFace, owner: Any?) = lock.tryLockUpgradable(owner)

        override fun unlock(lock: ReadWriteLockFace, owner: Any?) = lock.unlockUpgradable(owner)
    }, ;

    /** How many readers it counts as. */
    val readers: Int get() = if (this == WRITE) 0 else 1

    abstract suspend fun lock(lock: ReadWriteLockFace, owner: Any? = null)

    abstract suspend fun tryLock(lock: ReadWriteLockFace, timeout: Duration, owner: Any? = null): Boolean

    abstract fun tryLock(lock: ReadWriteLockFace, owner: Any? = null): Boolean

    abstract fun unlock(lock: ReadWriteLockFace, owner: Any? = null)
}

/**
 * What a read-write lock promises, whoever asks: a suspend function, a `select`, a future, or all of them in one queue.
 * It consists of topics: a face that cannot do one of them (say [ReadWriteOwners]) implements the others.
 */
abstract class ReadWriteContract(override val factory: ReadWriteLockFactory) :
    ReadWriteOrder,
    ReadWriteUpgrading,
    ReadWriteCancellation,
    ReadWriteOwners,
    ReadWriteMisuse
