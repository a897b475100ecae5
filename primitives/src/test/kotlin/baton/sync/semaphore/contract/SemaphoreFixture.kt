package baton.sync.semaphore.contract

import baton.sync.WaitOrder

/** The common part of the topics of the semaphore's contract. */
interface SemaphoreFixture {
    val factory: SemaphoreFactory

    fun semaphore(
        permits: Int,
        acquired: Int = 0,
        order: WaitOrder = WaitOrder.FIFO,
        name: String? = null,
    ): SemaphoreFace = factory(permits, acquired, order, name)
}

/**
 * The contract of a semaphore for every kind of caller: a suspend function, a `select`, a future, or all in one queue.
 *
 * It consists of topics, interfaces of their own: an API that cannot do one of them (say [SemaphoreTimeouts], which
 * needs virtual time) implements the others.
 */
abstract class SemaphoreContract(override val factory: SemaphoreFactory) :
    SemaphoreCounts,
    SemaphoreOrder,
    SemaphoreCancellation,
    SemaphoreResizing,
    SemaphoreClosing,
    SemaphoreIdleness,
    SemaphorePriorities,
    SemaphoreUnfairness
