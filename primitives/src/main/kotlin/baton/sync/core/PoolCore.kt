package baton.sync.core

import baton.monitoring.Monitored
import baton.sync.WaitOrder
import baton.waiting.Waiter
import baton.waiting.labelOf

/**
 * A semaphore whose permits come from elsewhere, and go back there. Those that are elsewhere count as held: so it
 * begins with all of them held.
 *
 * @param onDemand called, without the lock, after a request has come into the queue or left it.
 */
internal class PoolCore(
    permits: Int,
    private val kind: String,
    private val owner: Monitored,
    private val onDemand: Runnable,
) : SemaphoreCore(permits, acquired = permits, WaitOrder.FIFO, owner) {
    override fun enqueue(waiter: Waiter): Int = super.enqueue(waiter).also { if (it == Waiter.WAITING) onDemand.run() }

    override fun leaveQueue(waiter: Waiter, to: Int): Boolean = super.leaveQueue(waiter, to).also { onDemand.run() }

    /** How many permits the head of the queue asks for; 0 if no request waits for permits. */
    val demand: Int
        get() = if (isGuarded(word)) decide { queue.head()?.weight ?: 0 } else 0

    /** Takes all free permits, also those that are too few for the head. Returns how many. */
    fun withdraw(): Int = decideInflated { withdrawUnderLock() }

    /** Makes up to [most] permits free, as many as are elsewhere. */
    fun bring(most: Int) {
        if (!release(most)) decideInflated { putBackHeld(most) }
    }

    /**
     * As [resize], but the difference is elsewhere: no permit becomes free by it. Returns how many free ones it has
     * taken away, as [withdraw] does, because they are more than [newPermits].
     */
    fun resizeHeld(newPermits: Int): Int = decideInflated { changeHeldPermits(newPermits) }

    override fun label(): String = labelOf(kind, owner.name)
}
