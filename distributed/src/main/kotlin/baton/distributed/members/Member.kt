package baton.distributed.members

import baton.distributed.rules.MemberState
import java.util.concurrent.atomic.AtomicReference

/**
 * One life of a cluster in its store: from the first heartbeat to the moment in which the leases are over. A cluster
 * that has lost its membership begins another one, under another id.
 */
internal class Member(val id: String, val key: String, var state: MemberState, var version: Long) {
    /** When the last heartbeat that the store has confirmed was sent, by the monotonic clock. */
    @Volatile var confirmedAt: Long = 0

    /** By the monotonic clock: from here on all leases of this count as lost, whatever the store says. */
    @Volatile var deadline: Long = 0

    /** By the wall clock, in milliseconds; it may jump. */
    @Volatile var wallDeadline: Long = 0

    private val lossOrNull = AtomicReference<String?>()

    /** Why all is lost; null while it is not. */
    val loss: String?
        get() = lossOrNull.get()

    /** True for one caller. */
    fun tryLose(why: String): Boolean = lossOrNull.compareAndSet(null, why)

    /** Closes the bell of this. */
    var bell: AutoCloseable = AutoCloseable {}
}
