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
 * A mutex of all members of a [Cluster]. All that is said of [DistributedSemaphore] holds for its one permit. It is not
 * reentrant: a holder that locks again waits for itself.
 *
 * ```
 * cluster.mutex("account").withLock { lease -> table.write(row, lease.fencingToken) }
 * ```
 */
public class DistributedMutex internal constructor(@get:JvmSynthetic internal val client: LockClient) :
    Monitored, CallGuard {
    public override val name: String
        get() = client.name

    /**
     * Whether a member has it, in use or kept for its next use, as this member has seen it last: at its last call that
     * had to ask the store, and with each heartbeat while it waits.
     */
    public val isLocked: Boolean
        get() = holder != null

    /** The member that has it, as [isLocked]; null if none has. */
    public val holder: LockHolder?
        get() = client.holders().firstOrNull()

    /** Whether a caller of this JVM holds it. */
    public val isHeldHere: Boolean
        get() = client.inUse > 0

    /** How many callers of this JVM wait. */
    public val waiting: Int
        get() = client.pool.waiting

    /** The permits that callers of this JVM hold, and the callers that wait here. */
    override fun usage(): Usage = client.usage()

    /** Locks it, waiting if necessary. */
    public suspend fun lock(): Lease = client.acquire(1)

    /** Locks it if no other holder must unlock it, after at most one look into the store; else returns null. */
    public suspend fun tryLock(): Lease? = client.acquireNow(1)

    /**
     * Locks it, waiting [timeout] at most; null if it is not granted in time. If the store is away then, throws
     * [StoreUnavailableException]. With zero or less, as [tryLock] without a timeout.
     */
    public suspend fun tryLock(timeout: Duration): Lease? = client.acquireWithin(1, timeout)

    /**
     * Runs [block] while holding the mutex. If the lease is lost, the block is cancelled.
     *
     * @throws LeaseLostException once the block has ended, if the lease was lost before.
     */
    public suspend fun <T> withLock(block: suspend (Lease) -> T): T = client.withLease(1, block)

    /**
     * As the other, but waits [timeout] at most.
     *
     * @throws PermitTimeoutException if the mutex was not granted in time; [block] has not run. The message names the
     *   member that has the mutex.
     */
    public suspend fun <T> withLock(timeout: Duration, block: suspend (Lease) -> T): T =
        client.withLease(1, timeout, block)

    /** As [withLock], for a [baton.resilience.ResiliencePipeline]. */
    override suspend fun <T> guarded(maxWait: Duration, block: suspend () -> T): T =
        if (maxWait == Duration.INFINITE) withLock { block() } else withLock(maxWait) { block() }

    override fun toString(): String = client.toString()
}
