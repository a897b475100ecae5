package baton.scheduler

import baton.Priority
import baton.scheduler.schedule.AtTrigger
import baton.scheduler.schedule.EntryData
import baton.scheduler.schedule.TriggerText
import baton.scheduler.schedule.effective

/**
 * The edits of one call of [JdbcScheduleStore.edit] in a transaction of the caller. Of two edits of the same key the
 * last one holds. Used by the thread of that call alone.
 */
public class ScheduleEditor<K : Any> internal constructor() {
    private val rows = LinkedHashMap<K, ScheduleRow<K>>()

    /**
     * Writes an entry, new or in place of that with the same [key].
     *
     * @param data as in [Schedule.put].
     * @throws IllegalArgumentException if [trigger] has no text, because it is one of your own without a
     *   [name][Trigger.named], or if [data] is too long.
     */
    @JvmOverloads
    public fun put(key: K, trigger: Trigger, priority: Priority = Priority.NORMAL, data: ByteArray? = null) {
        rows[key] = rowOf(key, trigger, priority, data)
    }

    /** Removes an entry. No effect if there is none. */
    public fun remove(key: K) {
        rows[key] = deletedRow(key)
    }

    internal fun rows(): Collection<ScheduleRow<K>> = rows.values

    internal companion object {
        fun <K : Any> rowOf(key: K, trigger: Trigger, priority: Priority, data: ByteArray?): ScheduleRow<K> {
            require(TriggerText.hasText(trigger)) {
                "the trigger $trigger has no text: give it a name by Trigger.named"
            }
            val due = (effective(trigger) as? AtTrigger)?.instant
            val text = TriggerText.of(trigger)
            return ScheduleRow(key, text, priority, due, pausedBy = null, deleted = false, 0, EntryData.copyOf(data))
        }

        fun <K : Any> deletedRow(key: K): ScheduleRow<K> =
            ScheduleRow(key, "", Priority.NORMAL, null, pausedBy = null, deleted = true, 0)
    }
}
