@file:JvmSynthetic

package baton.distributed

import baton.distributed.locks.LockClient
import baton.distributed.members.Member
import baton.waiting.threads.Trampoline
import java.util.concurrent.CopyOnWriteArrayList
import java.util.concurrent.atomic.AtomicReference
import kotlin.time.Duration
import kotlin.time.Duration.Companion.nanoseconds
import kotlinx.coroutines.CompletableDeferred

/**
 * The permits of a lock of a [Cluster] that a caller holds, until they are released or lost.
 *
 * A lease is lost if this JVM was stopped or cut off from the store for too long, or if the store has lost what it had.
 * Then other members may hold the same, and it never comes back: the work must end. The block of `withPermit` and
 * `withLock` is cancelled.
 *
 * All members may be called from any thread. Closing it twice does nothing.
 */
public class Lease
internal constructor(
    private val client: LockClient,
    private val member: Member,
    internal val permits: Int,

    /**
     * A number for the resource that the lock protects: it grows from grant to grant of the same permits, over all
     * members and restarts. A resource that refuses a smaller number than it has seen is safe from a holder that does
     * not know of its loss. Of a semaphore with several permits, holders at one time have different numbers in no
     * order.
     */
    @get:JvmName("fencingToken") public val fencingToken: Long,
    private val since: Long,
) : AutoCloseable {
    private val end = AtomicReference<Any?>()
    private val lost = CompletableDeferred<Unit>()
    private val listeners = CopyOnWriteArrayList<Runnable>()

    private object Released

    /** Whether it is neither released nor lost, by the clocks of this JVM. */
    public val isHeld: Boolean
        get() = end.get() == null && !client.isOver(member) && end.get() == null

    /**
     * Returns if the lease is held. For a moment at which it matters: before a write to what the lock protects. It
     * reads the clocks, the monotonic one and that of the wall, and trusts the one by which more time has passed.
     *
     * @throws LeaseLostException if it is lost, or may be over.
     * @throws IllegalStateException if it was released.
     */
    public fun check() {
        val isOver = client.isOver(member)
        when (val seen = end.get()) {
            null -> if (isOver) throw lossOf("by the clock of this machine its time is over")
            is LeaseLostException -> throw lossOf(seen.message, seen)
            else -> throw IllegalStateException("${text()} was released")
        }
    }

    /** Gives it back. Does not wait for the network. After a loss, or the second time, it does nothing. */
    public fun release() {
        if (end.compareAndSet(null, Released)) client.release(this)
    }

    /** As [release]. */
    override fun close() {
        release()
    }

    /**
     * Runs [listener] when the lease is lost, at once if it was; not if it is released before. It should not block:
     * other listeners of this lease wait for it. Those of other leases do not, unless the cluster was opened with a
     * dispatcher, on which they run. Closing the result removes it.
     */
    public fun onLost(listener: Runnable): AutoCloseable {
        val once = AtomicReference<Runnable?>(listener)
        val guarded = Runnable { once.getAndSet(null)?.let { Trampoline.guarded { it.run() } } }
        listeners += guarded
        if (end.get() is LeaseLostException) guarded.run()
        return AutoCloseable {
            once.set(null)
            listeners -= guarded
        }
    }

    /** Waits until the lease is lost: for ever if it is released. */
    public suspend fun awaitLost() {
        lost.await()
    }

    /** Why it was lost; null if it was not. The clocks decide, also before a timer or another thread has told this. */
    internal val loss: LeaseLostException?
        get() {
            client.isOver(member)
            member.loss?.let { if (lose(it)) client.tell(this) }
            return end.get() as? LeaseLostException
        }

    /** It is held no more. True if it was lost by this, and has to be told. */
    @JvmSynthetic internal fun lose(why: String): Boolean = end.compareAndSet(null, lossOf(why))

    @JvmSynthetic
    internal fun tell() {
        client.lost(this, loss?.message.orEmpty())
        for (listener in listeners) listener.run()
        lost.complete(Unit)
    }

    @JvmSynthetic internal fun timeLeft(): Duration = (member.deadline - client.now()).nanoseconds

    private fun lossOf(why: String?, cause: Throwable? = null) =
        LeaseLostException("${text()} was lost ${(client.now() - since).nanoseconds} after it was granted: $why", cause)

    private fun text() =
        if (permits == 1) "the lease of ${client.label}" else "the lease of $permits of ${client.label}"

    override fun toString(): String {
        val state = if (end.get() == null) "held" else if (end.get() === Released) "released" else "lost"
        return "Lease (${client.label}, permits = $permits, fencingToken = $fencingToken, $state)"
    }
}
