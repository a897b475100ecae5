package baton.sync.semaphore.contract

import baton.sync.WaitOrder

/** What the topics of the semaphore's contract have in common. */
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
 * What a semaphore promises, whoever asks: a suspend function, a `select`, a future, or all of them in one queue.
 *
 * It consists of topics, interfaces of their own: a face that cannot do one of them (say [SemaphoreTimeouts], which
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
