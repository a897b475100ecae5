package baton.sync.readwrite.contract

import baton.sync.ReadWriteLock
import baton.sync.ReadWritePolicy
import kotlin.time.Duration
import kotlinx.coroutines.selects.onTimeout
import kotlinx.coroutines.selects.select

/** The suspend functions. */
class KotlinReadWriteLockFace(private val lock: ReadWriteLock) : ReadWriteLockFace {
    constructor(policy: ReadWritePolicy, name: String?) : this(ReadWriteLock(policy, name))

    override val readers: Int
        get() = lock.readers

    override val isWriteLocked: Boolean
        get() = lock.isWriteLocked

    override val writeHolder: Any?
        get() = lock.writeHolder

    override val readHolders: List<Any>
        get() = lock.readHolders

    override val waiting: Int
        get() = lock.waiting

    override suspend fun lockRead(owner: Any?) = lock.lockRead(owner)

    override fun tryLockRead(owner: Any?) = lock.tryLockRead(owner)

    override suspend fun tryLockRead(timeout: Duration, owner: Any?) = lock.tryLockRead(timeout, owner)

    override fun unlockRead(owner: Any?) = lock.unlockRead(owner)

    override suspend fun lockWrite(owner: Any?) = lock.lockWrite(owner)

    override fun tryLockWrite(owner: Any?) = lock.tryLockWrite(owner)

    override suspend fun tryLockWrite(timeout: Duration, owner: Any?) = lock.tryLockWrite(timeout, owner)

    override fun unlockWrite(owner: Any?) = lock.unlockWrite(owner)

    override suspend fun lockUpgradable(owner: Any?) = lock.lockUpgradable(owner)

    override fun tryLockUpgradable(owner: Any?) = lock.tryLockUpgradable(owner)

    override suspend fun tryLockUpgradable(timeout: Duration, owner: Any?) = lock.tryLockUpgradable(timeout, owner)

    override fun unlockUpgradable(owner: Any?) = lock.unlockUpgradable(owner)

    override suspend fun upgrade(owner: Any?) = lock.upgrade(owner)

    override fun tryUpgrade(owner: Any?) = lock.tryUpgrade(owner)

    override suspend fun tryUpgrade(timeout: Duration, owner: Any?) = lock.tryUpgrade(timeout, owner)

    override fun downgrade(owner: Any?) = lock.downgrade(owner)

    override fun toString() = lock.toString()
}

/** Requests to read or to write wait in a `select`, except those with an owner, for which there is no clause. */
class SelectReadWriteLockFace(private val lock: ReadWriteLock) : ReadWriteLockFace by KotlinReadWriteLockFace(lock) {
    constructor(policy: ReadWritePolicy, name: String?) : this(ReadWriteLock(policy, name))

    override suspend fun lockRead(owner: Any?) = if (owner == null) select { lock.onRead {} } else lock.lockRead(owner)

    override suspend fun tryLockRead(timeout: Duration, owner: Any?): Boolean =
        if (owner != null) {
            lock.tryLockRead(timeout, owner)
        } else {
            select {
                lock.onRead { true }
                onTimeout(timeout) { false }
            }
        }

    override suspend fun lockWrite(owner: Any?) =
        if (owner == null) select { lock.onWrite {} } else lock.lockWrite(owner)

    override suspend fun tryLockWrite(timeout: Duration, owner: Any?): Boolean =
        if (owner != null) {
            lock.tryLockWrite(timeout, owner)
        } else {
            select {
                lock.onWrite { true }
                onTimeout(timeout) { false }
            }
        }

    override fun toString() = lock.toString()
}

/** Suspend functions and `select` alternate, in one queue. */
class MixedReadWriteLockFace(private val lock: ReadWriteLock) : ReadWriteLockFace by KotlinReadWriteLockFace(lock) {
    constructor(policy: ReadWritePolicy, name: String?) : this(ReadWriteLock(policy, name))

    private val faces = listOf(KotlinReadWriteLockFace(lock), SelectReadWriteLockFace(lock))
    private var turn = 0

    private fun next() = faces[turn++ % faces.size]

    override suspend fun lockRead(owner: Any?) = next().lockRead(owner)

    override suspend fun tryLockRead(timeout: Duration, owner: Any?) = next().tryLockRead(timeout, owner)

    override suspend fun lockWrite(owner: Any?) = next().lockWrite(owner)

    override suspend fun tryLockWrite(timeout: Duration, owner: Any?) = next().tryLockWrite(timeout, owner)

    override fun toString() = lock.toString()
}
