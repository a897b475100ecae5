package baton.sync.mutex

import baton.sync.semaphore.contract.SemaphoreFace
import baton.waiting.contract.WaiterTimeouts
import kotlin.time.Duration

/** A mutex as a contract sees it, over any of the APIs. The rules of [SemaphoreFace] hold here, too. */
interface MutexFace {
    val isLocked: Boolean

    val holder: Any?

    val waiting: Int

    suspend fun lock(owner: Any? = null)

    fun tryLock(owner: Any? = null): Boolean

    /** In the virtual time of the calling coroutine; only the contract [WaiterTimeouts] calls it. */
    suspend fun tryLock(timeout: Duration, owner: Any? = null): Boolean

    fun unlock(owner: Any? = null)

    /** Returns the mutex's own string, or a text that contains it. */
    override fun toString(): String
}

/** Makes the mutex of a test: whether it is locked, and its name. */
typealias MutexFactory = (locked: Boolean, name: String?) -> MutexFace
