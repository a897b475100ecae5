package baton.sync.readwrite.contract

import baton.sync.ReadWritePolicy
import kotlin.time.Duration
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue

/** The common part of the topics of the read-write lock's contract. */
interface ReadWriteFixture {
    val factory: ReadWriteLockFactory

    fun lock(policy: ReadWritePolicy = ReadWritePolicy.PHASE_FAIR, name: String? = null): ReadWriteLockFace =
        factory(policy, name)

    fun assertState(lock: ReadWriteLockFace, readers: Int = 0, written: Boolean = false, waiting: Int = 0) {
        val state = "readers = ${lock.readers}, written = ${lock.isWriteLocked}, waiting = ${lock.waiting}"
        assertEquals("readers = $readers, written = $written, waiting = $waiting", state)
    }

    /** The lock has no holder and no waiter, and can be acquired in every mode. */
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

/** The modes in which a caller may lock it. */
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
 * The contract of a read-write lock for every kind of caller: a suspend function, a `select`, a future, or all in one
 * queue. It consists of topics: an API that cannot do one of them (say [ReadWriteOwners]) implements the others.
 */
abstract class ReadWriteContract(override val factory: ReadWriteLockFactory) :
    ReadWriteOrder,
    ReadWriteUpgrading,
    ReadWriteCancellation,
    ReadWriteOwners,
    ReadWriteMisuse
