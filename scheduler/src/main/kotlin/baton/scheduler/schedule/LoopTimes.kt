package baton.scheduler.schedule

import baton.scheduler.ScheduleConfig
import baton.waiting.clock.BoundClock

/** How long the loop sleeps, and what it does about a clock that was set back. */
internal class LoopTimes<K : Any>(
    config: ScheduleConfig,
    private val table: EntryTable<K>,
    private val clock: BoundClock,
) {
    private val resolution = config.resolution.inWholeMicroseconds
    private val times = DueTimes(config.misfire)
    private val entry = PeekedEntry(table)

    /**
     * How many microseconds the loop may sleep; 0 if there is something to do, and [Times.NEVER] if it needs no timer.
     * From here on a step that makes an entry due earlier wakes it.
     */
    fun sleepTime(now: Long): Long =
        table.step {
            val first = if (table.isPaused) Times.NEVER else table.heap.firstDue
            if (first <= now || table.triggeredSlots.size > 0) return@step 0
            val due = if (first == Times.NEVER) first else Times.roundedUp(first, resolution)
            table.wakeUpAt = if (clock.isReal) minOf(due, Times.saturated(now, LONGEST_SLEEP_MICROS)) else due
            if (table.wakeUpAt == Times.NEVER) Times.NEVER else table.wakeUpAt - now
        }

    /**
     * The clock was set back: entries whose next due time is now farther away than it would be if they were put anew
     * get that one.
     */
    fun moveBack(now: Long, onFailure: (K, Throwable) -> Unit) {
        for (slot in 0 until table.step { table.keys.capacity }) {
            val isScheduled = table.step { (slot in table.heap).also { if (it) entry.read(slot) } }
            if (!isScheduled) continue
            val key = entry.key
            times.first(entry.trigger, key, now)
            table.step {
                if (entry.isUnchanged && times.failure == null && times.next < entry.due) {
                    table.schedule(slot, times.next)
                    if (effective(entry.trigger) !is EveryTrigger) table.markDirty(slot, false)
                }
            }
            times.failure?.let { onFailure(key, it) }
        }
    }

    private companion object {
        /** A real clock is read at least so often, because it may jump, and a sleeping computer counts no delays. */
        const val LONGEST_SLEEP_MICROS = 60_000_000L
    }
}
