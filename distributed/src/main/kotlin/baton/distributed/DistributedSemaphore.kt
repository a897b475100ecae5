package baton.distributed

import baton.CallGuard
import baton.PermitTimeoutException
import baton.distributed.locks.LockClient
import baton.distributed.locks.acquire
import baton.distributed.locks.acquireNow
import baton.distributed.locks.acquireWithin
import baton.distributed.locks.withLease
import baton.monitoring.Monitored
import baton.monitoring.Usage
import kotlin.time.Duration

/**
 * A semaphore whose permits all members of a [Cluster] share. Its calls are those of [baton.sync.Semaphore], but a
 * holder has a [Lease], which may be lost, and whose release is the only way to give permits back.
 *
 * ```
 * val atMostFive = cluster.semaphore("uplink", permits = 5)
 * suspend fun fetch(path: String): String = atMostFive.withPermit { client.get(path) }
 * ```
 *
 * *Order.* First come, first served among the callers of a JVM, and among the JVMs. A JVM that has permits passes them
 * on among its own callers at most 16 times or for 20 ms while another one waits.
 *
 * *Waiting.* All callers of a JVM have one place in the queue of the store. While the store is away they wait, or fail
 * by their timeout with the failure of the store.
 *
 * *Cancellation.* Throws and holds nothing. The place in the store goes back in the background.
 *
 * *Loss.* See [Lease]. A permit that no caller uses any more stays with the JVM until the next heartbeat but one.
 *
 * *Memory.* As in a [baton.sync.Semaphore] within a JVM; between JVMs, the resource that is protected is the only
 * memory.
 *
 * *Misuse.* A request for fewer than 1 permit or for more than there are throws [IllegalArgumentException]. After the
 * cluster was closed all calls throw [baton.sync.SemaphoreClosedException]. All members may be called from any thread.
 */
public class DistributedSemaphore internal constructor(@get:JvmSynthetic internal val client: LockClient) :
    Monitored, CallGuard {
    public override val name: String
        get() = client.name

    /** The number of permits of all members together, as this one knows it. */
    public val permits: Int
        get() = client.pool.permits

    /** The members that have permits, in use or kept, as this one has seen it last; see [DistributedMutex.isLocked]. */
    public val holders: List<LockHolder>
        get() = client.holders()

    /** How many callers of this JVM wait. */
    public val waiting: Int
        get() = client.pool.waiting

    /** The permits that callers of this JVM hold, and the callers that wait here. */
    override fun usage(): Usage = client.usage()

    /**
     * Takes [permits], waiting for them if necessary.
     *
     * @throws IllegalArgumentException if [permits] is below 1 or above [DistributedSemaphore.permits].
     */
    public suspend fun acquire(permits: Int = 1): Lease = client.acquire(permits)

    /**
     * Takes [permits] if no other holder must release any, after at most one look into the store; else returns null.
     */
    public suspend fun tryAcquire(permits: Int = 1): Lease? = client.acquireNow(permits)

    /**
     * Takes [permits], waiting [timeout] at most; null if they are not granted in time. If the store is away then,
     * throws [StoreUnavailableException]. With zero or less, as [tryAcquire] without a timeout.
     */
    public suspend fun tryAcquire(permits: Int = 1, timeout: Duration): Lease? = client.acquireWithin(permits, timeout)

    /**
     * Runs [block] while holding one permit. If the lease is lost, the block is cancelled.
     *
     * @throws LeaseLostException once the block has ended, if the lease was lost before.
     */
    public suspend fun <T> withPermit(block: suspend (Lease) -> T): T = client.withLease(1, block)

    /** As [withPermit], with [permits]. */
    public suspend fun <T> withPermits(permits: Int, block: suspend (Lease) -> T): T = client.withLease(permits, block)

    /**
     * As [withPermit], but waits [timeout] at most.
     *
     * @throws PermitTimeoutException if the permit was not granted in time; [block] has not run.
     */
    public suspend fun <T> withPermit(timeout: Duration, block: suspend (Lease) -> T): T =
        client.withLease(1, timeout, block)

    /** As [withPermit] with a timeout, with [permits]. */
    public suspend fun <T> withPermits(permits: Int, timeout: Duration, block: suspend (Lease) -> T): T =
        client.withLease(permits, timeout, block)

    /** As [withPermit], for a [baton.resilience.ResiliencePipeline]. */
    override suspend fun <T> guarded(maxWait: Duration, block: suspend () -> T): T =
        if (maxWait == Duration.INFINITE) client.withLease(1) { block() } else client.withLease(1, maxWait) { block() }

    /**
     * Changes the number of permits for all members, in the background. Permits that are held beyond the new number go
     * as they are released.
     *
     * @throws IllegalArgumentException if [permits] is below 1.
     */
    public fun resize(permits: Int) {
        requirePermits(permits)
        client.resize(permits)
    }

    override fun toString(): String = client.toString()

    internal companion object {
        fun requirePermits(permits: Int) {
            require(permits >= 1) { "permits = $permits, must be at least 1" }
        }
    }
}
