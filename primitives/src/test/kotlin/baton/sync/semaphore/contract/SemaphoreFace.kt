package baton.sync.semaphore.contract

import baton.sync.WaitOrder
import kotlin.time.Duration

/**
 * A semaphore as a contract sees it, over any of the APIs.
 * - A caller that waits is a coroutine; cancelling it withdraws the request. Over a future: cancel the future.
 * - A suspend function that throws holds nothing. Over a future that was granted before its awaiting coroutine was
 *   cancelled: give the permits back before throwing.
 * - An exception of an API arrives as itself, not wrapped.
 * - For [WaitOrder.PRIORITY], the `Priority` is the one in the caller's coroutine context.
 */
interface SemaphoreFace {
    val permits: Int

    val available: Int

    val waiting: Int

    suspend fun acquire(permits: Int = 1)

    fun tryAcquire(permits: Int = 1): Boolean

    /** In the virtual time of the calling coroutine; only the contract [SemaphoreTimeouts] calls it. */
    suspend fun tryAcquire(permits: Int, timeout: Duration): Boolean

    fun release(permits: Int = 1)

    fun resize(permits: Int)

    fun close(cause: Throwable? = null)

    suspend fun awaitIdle()

    /** Returns the semaphore's own string, or a text that contains it. */
    override fun toString(): String
}

/** Makes the semaphore of a test: permits, how many of them are acquired, order, name. */
typealias SemaphoreFactory = (permits: Int, acquired: Int, order: WaitOrder, name: String?) -> SemaphoreFace
