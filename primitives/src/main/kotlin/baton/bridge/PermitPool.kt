package baton.bridge

import baton.InternalBatonApi
import baton.monitoring.Monitored
import baton.monitoring.Usage
import baton.monitoring.toUsage
import baton.sync.SemaphoreClosedException
import baton.sync.core.PoolCore
import baton.waiting.WaitCore
import baton.waiting.coroutine.awaitGrant
import baton.waiting.lookAtWaiters
import kotlin.time.Duration

/**
 * The local queue for permits that come from elsewhere, as those of a semaphore that several JVMs share. It begins
 * without any: [bring] and [withdraw] say how many there are. Its callers wait as those of a semaphore.
 *
 * @param kind of the [owner], shown by messages beside its name, such as Mutex.
 * @param onDemand called on the thread of a caller, after the caller has come into the queue or left it.
 */
@InternalBatonApi
public class PermitPool(permits: Int, kind: String, private val owner: Monitored, onDemand: Runnable) {
    private val pool = PoolCore(permits, kind, owner, onDemand)

    /** The core at which callers wait; a waiter's number is how many permits it asks for. */
    public val core: WaitCore
        get() = pool

    /** How many there are in all, here and elsewhere. */
    public val permits: Int
        get() = pool.permits

    public val waiting: Int
        get() = pool.waiting

    /** How many are free, also while the first waiter asks for more. */
    public val free: Int
        get() = pool.availablePermits

    /** How many permits the first waiter asks for, more than are free; 0 if no caller waits. */
    public val demand: Int
        get() = pool.demand

    /**
     * Takes [permits], waiting for them if necessary. Throws as a semaphore does.
     *
     * @throws SemaphoreClosedException if this is closed.
     */
    public suspend fun acquire(permits: Int) {
        if (!tryAcquire(permits)) awaitGrant(pool, permits)
    }

    /** As [acquire], but false if they are not there within [timeout], which is above zero. */
    public suspend fun tryAcquire(permits: Int, timeout: Duration): Boolean =
        tryAcquire(permits) || awaitGrant(pool, permits, timeout = timeout)

    /** Takes [permits] if they are free and no caller waits. */
    public fun tryAcquire(permits: Int): Boolean {
        require(permits >= 1) { "permits = $permits, must be at least 1" }
        if (pool.exceedsPermits(permits)) throw pool.refusal(permits)
        return pool.tryTakePermits(permits, by = null)
    }

    /** Makes [permits] free, but no more than are elsewhere. */
    public fun bring(permits: Int) {
        pool.bring(permits)
    }

    /** Takes all free permits away, also while a caller waits that they are too few for. Returns how many. */
    public fun withdraw(): Int = pool.withdraw()

    /**
     * Changes how many there are in all. None becomes free by it; a request for more fails. Returns how many free ones
     * it has taken away, because they are more than that.
     */
    public fun resize(permits: Int): Int = pool.resizeHeld(permits)

    /** Fails all callers that wait and that come. */
    public fun close(cause: Throwable) {
        pool.close(cause)
    }

    /** The usage of the owner, of whose permits [inUse] are held here. */
    public fun usage(inUse: Int, totals: Map<String, Long> = emptyMap()): Usage =
        pool.lookAtWaiters().toUsage(inUse.toLong(), permits.toLong(), totals)

    override fun toString(): String = owner.toString()
}
