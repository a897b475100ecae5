package baton.sync.readwrite.contract

import baton.sync.ReadWritePolicy
import baton.sync.semaphore.contract.SemaphoreFace
import kotlin.time.Duration

/**
 * A read-write lock as a contract sees it, over any of the APIs. The rules of [SemaphoreFace] hold here, too.
 *
 * The timed ones wait in the virtual time of the calling coroutine; only the contract [ReadWriteTimeouts] calls them.
 */
interface ReadWriteLockFace {
    val readers: Int

    val isWriteLocked: Boolean

    val writeHolder: Any?

    val readHolders: List<Any>

    val waiting: Int

    suspend fun lockRead(owner: Any? = null)

    fun tryLockRead(owner: Any? = null): Boolean

    suspend fun tryLockRead(timeout: Duration, owner: Any? = null): Boolean

    fun unlockRead(owner: Any? = null)

    suspend fun lockWrite(owner: Any? = null)

    fun tryLockWrite(owner: Any? = null): Boolean

    suspend fun tryLockWrite(timeout: Duration, owner: Any? = null): Boolean

    fun unlockWrite(owner: Any? = null)

    suspend fun lockUpgradable(owner: Any? = null)

    fun tryLockUpgradable(owner: Any? = null): Boolean

    suspend fun tryLockUpgradable(timeout: Duration, owner: Any? = null): Boolean

    fun unlockUpgradable(owner: Any? = null)

    suspend fun upgrade(owner: Any? = null)

    fun tryUpgrade(owner: Any? = null): Boolean

    suspend fun tryUpgrade(timeout: Duration, owner: Any? = null): Boolean

    fun downgrade(owner: Any? = null)

    /** Returns the lock's own string, or a text that contains it. */
    override fun toString(): String
}

/** Makes the lock of a test: its policy and its name. */
typealias ReadWriteLockFactory = (policy: ReadWritePolicy, name: String?) -> ReadWriteLockFace
