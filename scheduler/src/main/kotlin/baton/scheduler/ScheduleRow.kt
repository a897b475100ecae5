package baton.scheduler

import baton.Priority
import java.time.Instant

/**
 * An entry of a [Schedule] as a [ScheduleStore] holds it.
 *
 * @property key of the entry, by which rows are unique.
 * @property trigger its trigger as text, for example `every PT2M`, `delay PT30S`, `daily 02:30 Europe/Berlin` or `named
 *   nightly`.
 * @property priority its level.
 * @property nextDue when it is due; null if that follows from the trigger, or if it is paused.
 * @property pausedBy why it does not fire; null if it is not paused. A [PausedBy.FAILED_TRIGGER] is no pause for a
 *   schedule that loads the row: it tries the trigger again.
 * @property deleted whether the entry is removed; then only the key and the revision count.
 * @property revision of the store, when the row was last written; in a row to be written, the latest that the schedule
 *   has read or written, or 0.
 * @property data the bytes that the user has put with the entry, at most 65,536; null if it has none. Not to be
 *   changed.
 * @property lastRun when its last run has ended, and
 * @property lastOutcome how; both null if none has.
 */
public class ScheduleRow<K : Any>
internal constructor(
    public val key: K,
    public val trigger: String,
    public val priority: Priority,
    public val nextDue: Instant?,
    public val pausedBy: PausedBy?,
    public val deleted: Boolean,
    public val revision: Long,
    public val data: ByteArray?,
    public val lastRun: Instant?,
    public val lastOutcome: RunOutcome?,
    /** Whether the user has changed the entry, and not only a run its due time. */
    internal val isEdited: Boolean,
) {
    public constructor(
        key: K,
        trigger: String,
        priority: Priority,
        nextDue: Instant?,
        pausedBy: PausedBy?,
        deleted: Boolean,
        revision: Long,
        data: ByteArray? = null,
        lastRun: Instant? = null,
        lastOutcome: RunOutcome? = null,
    ) : this(key, trigger, priority, nextDue, pausedBy, deleted, revision, data, lastRun, lastOutcome, isEdited = true)

    /** The same row as of [revision], under another form of its key. */
    internal fun <T : Any> with(key: T, revision: Long): ScheduleRow<T> =
        ScheduleRow(key, trigger, priority, nextDue, pausedBy, deleted, revision, data, lastRun, lastOutcome, isEdited)

    override fun toString(): String =
        "ScheduleRow (key = $key, trigger = $trigger, priority = $priority, nextDue = $nextDue, pausedBy = $pausedBy, " +
            "deleted = $deleted, revision = $revision, data = ${data?.size ?: 0} bytes, lastRun = $lastRun, " +
            "lastOutcome = $lastOutcome)"
}
