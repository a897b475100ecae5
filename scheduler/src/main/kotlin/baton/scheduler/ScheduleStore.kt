package baton.scheduler

import kotlin.time.Duration
import kotlinx.coroutines.flow.Flow

/**
 * Where a [Schedule] keeps its entries, so that they survive the process.
 *
 * Each batch of changes has a revision: a number above 0 that grows with every batch, of any writer, also over
 * restarts. A row has the revision of the batch that wrote it last. A schedule recognizes new rows by their revisions.
 *
 * The schedule calls [apply] from one coroutine at a time, and [load] too, but the two may run at the same time. A call
 * may fail: the schedule keeps its changes and repeats the call later. A call may be cancelled; then it must either
 * have its whole effect or none.
 *
 * A store object serves one schedule, which closes it at its end. A store that wraps another one passes all calls on,
 * [own], [renew] and [setPaused] included, as Kotlin's delegation by `by` does.
 */
public interface ScheduleStore<K : Any> {
    /**
     * The rows with a revision above [since]. With 0, in the first call, these are all rows that are not deleted. With
     * more, deleted rows are among them, unless the store has no other writers. Rows with lower revisions may be among
     * them that have become visible since the last call.
     *
     * @throws Exception if not all of them can be read: never returns fewer instead.
     */
    public suspend fun load(since: Long): List<ScheduleRow<K>>

    /**
     * Writes all [rows], or none of them, each in place of the row with its key. [rows] is not empty, and each key
     * occurs once. Returns the revision of this batch once it is durable.
     *
     * @throws IllegalArgumentException if a row can never be written as it is. The schedule then writes the others
     *   without it, passes this to [ScheduleConfig.onFailure] with the key of the row, and leaves the row out until its
     *   entry is changed.
     */
    public suspend fun apply(rows: List<ScheduleRow<K>>): Long

    /**
     * The edits of other writers, as they are written; never what [apply] of this store object has written. The
     * schedule collects the flow from before the first [load] to its end. After a failure, which is an outage, it
     * collects the flow anew and then reads the rows that it has missed: so a flow must emit each edit from when
     * `collect` first suspends. A store without other writers returns an empty flow.
     */
    public fun edits(): Flow<List<ScheduleRow<K>>>

    /**
     * Makes the schedule named [owner] the one that may write, before its first [load]. Returns whether it is to call
     * [renew] every [renewEvery]. For stores that several processes can reach; by default it returns false.
     *
     * @throws ScheduleOwnedException if another owner is alive.
     */
    public suspend fun own(owner: String, renewEvery: Duration): Boolean = false

    /**
     * Shows that the owner is alive, also after calls that have failed.
     *
     * @throws ScheduleOwnedException if another owner has taken over. The schedule then ends.
     */
    public suspend fun renew() {}

    /**
     * Whether the schedule is [paused as a whole][Schedule.pauseAll]. Called after the first [load], and with each
     * later one. A store that does not keep that returns false, as by default.
     */
    public suspend fun isPaused(): Boolean = false

    /**
     * Keeps whether the schedule is paused as a whole. Called one at a time with [apply]. By default it does nothing.
     */
    public suspend fun setPaused(isPaused: Boolean) {}

    /** Frees the resources of the store, at the end of [Schedule.run], which waits for it no longer than a second. */
    public suspend fun close()
}
