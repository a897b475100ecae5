package baton.scheduler

import baton.Priority
import java.time.Instant

/**
 * An entry of a [Schedule] as a [ScheduleStore] holds it.
 *
 * @property key of the entry, by which rows are unique.
 * @property trigger its trigger as text, for example `every PT2M`, `delay PT30S` or `named nightly`.
 * @property priority its level.
 * @property nextDue when it is due; null if that follows from the trigger, or if it is paused.
 * @property paused whether it does not fire before [Schedule.resume].
 * @property deleted whether the entry is removed; then only the key and the revision count.
 * @property revision of the store, when the row was last written; in a row to be written, the latest that the schedule
 *   has read or written, or 0.
 */
public class ScheduleRow<K : Any>
internal constructor(
    public val key: K,
    public val trigger: String,
    public val priority: Priority,
    public val nextDue: Instant?,
    public val paused: Boolean,
    public val deleted: Boolean,
    public val revision: Long,
    /** Whether the user has changed the entry, and not only a run its due time. */
    internal val isEdited: Boolean,
) {
    public constructor(
        key: K,
        trigger: String,
        priority: Priority,
        nextDue: Instant?,
        paused: Boolean,
        deleted: Boolean,
        revision: Long,
    ) : this(key, trigger, priority, nextDue, paused, deleted, revision, isEdited = true)

    override fun toString(): String =
        "ScheduleRow (key = $key, trigger = $trigger, priority = $priority, nextDue = $nextDue, paused = $paused, " +
            "deleted = $deleted, revision = $revision)"
}
