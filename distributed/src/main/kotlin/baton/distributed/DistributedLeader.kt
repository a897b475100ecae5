package baton.distributed

import baton.distributed.locks.LockClient
import baton.distributed.locks.withLease
import baton.monitoring.Monitored
import baton.monitoring.Usage
import baton.waiting.threads.Trampoline
import kotlin.coroutines.cancellation.CancellationException
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.job

/**
 * Chooses one of the members of a [Cluster], which runs a block until it ends.
 *
 * ```
 * scope.launch { cluster.leader("cleaner").run { while (true) { clean(); delay(1.minutes) } } }
 * ```
 *
 * It is a [DistributedMutex] that is locked anew after a loss. A block that never ends makes this member the leader as
 * long as it can be. A block that ends has done its work: the next member that waits leads then.
 */
public class DistributedLeader internal constructor(private val client: LockClient) : Monitored {
    public override val name: String
        get() = client.name

    /** Whether a block runs here, and the lease is held by the clocks of this JVM. */
    public val isLeader: Boolean
        get() = client.leads

    /** The member that leads, as this one has seen it last: see [DistributedMutex.isLocked]. Null if none does. */
    public val leader: LockHolder?
        get() = client.holders().firstOrNull()

    /** 1 in use if a block runs here. The callers that wait here to lead. */
    override fun usage(): Usage = client.usage()

    /**
     * Waits until this member leads, runs [block], and returns its value. If the leadership is lost meanwhile, the
     * block is cancelled. Once it has ended, however it ends, this waits until the member leads again, and runs it once
     * more. An exception that the block throws after a loss is reported to the thread's handler of uncaught exceptions.
     *
     * The leadership is given up when the block ends. What it throws while it leads is thrown here.
     *
     * *Order.* First come, first served, as of a [DistributedMutex]. A second call in this JVM waits for the first.
     *
     * *Cancellation.* Cancels the block and gives up the leadership.
     *
     * @throws baton.sync.SemaphoreClosedException if the cluster is closed or shut down. That cancels the block, and
     *   `Cluster.shutdown` waits for its end.
     */
    public suspend fun <T> run(block: suspend (Lease) -> T): T {
        while (true) {
            var lease: Lease? = null
            try {
                return client.withLease(1) {
                    lease = it
                    untilEnd { block(it) }
                }
            } catch (e: LeaseLostException) {
                if (e !== lease?.loss) throw e
                e.suppressed.forEach { Trampoline.report(it) }
            } catch (e: CancellationException) {
                currentCoroutineContext().ensureActive()
                if (!client.isClosed) throw e
            }
        }
    }

    /** The next round finds that the cluster is closed. */
    private suspend fun <T> untilEnd(block: suspend () -> T): T = coroutineScope {
        val job = currentCoroutineContext().job
        client.onEnd { job.cancel(CancellationException("${client.label} is closed")) }.use { block() }
    }

    override fun toString(): String =
        "${client.label} (leader = ${leader ?: "none"}${if (isLeader) ", here" else ""}, waiting here = ${client.pool.waiting})"
}
