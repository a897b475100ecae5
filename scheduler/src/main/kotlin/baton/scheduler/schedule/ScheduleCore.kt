package baton.scheduler.schedule

import baton.Priority
import baton.scheduler.ScheduleConfig
import baton.scheduler.ScheduleEntry
import baton.scheduler.Trigger
import baton.scheduler.schedule.EntryFlags.ENDING
import baton.scheduler.schedule.EntryFlags.FAILED
import baton.scheduler.schedule.EntryFlags.IF_ABSENT
import baton.scheduler.schedule.EntryFlags.KEEP_DUE
import baton.scheduler.schedule.EntryFlags.LATE
import baton.scheduler.schedule.EntryFlags.LIVE
import baton.scheduler.schedule.EntryFlags.PAUSED
import baton.scheduler.schedule.EntryFlags.RESUMED
import baton.scheduler.schedule.EntryFlags.RUN_FAILED
import baton.scheduler.tasks.nameOf
import baton.scheduler.tasks.report
import baton.waiting.clock.BoundClock
import java.time.Instant
import java.util.concurrent.atomic.AtomicLong
import kotlin.time.Duration

/**
 * The edits of a schedule. Each is one step on the [EntryTable], so it is in effect when the call returns; a trigger of
 * the user is evaluated before, by the calling thread.
 */
internal class ScheduleCore<K : Any>(
    private val config: ScheduleConfig,
    val table: EntryTable<K>,
    /** The schedule in messages. */
    private val label: String,
) {
    /** The message and the cause of what edits throw after the end. */
    @Volatile private var refusal: Pair<String, Throwable?> = "$label has ended" to null

    val size: Int
        get() = table.step { table.size }

    val clock = BoundClock(config.clock)

    /** The latest time that [now] has returned since [replaceLatest], give or take [CLOCK_STEP_MICROS]. */
    private val latest = AtomicLong(Times.EARLIEST)

    /** Microseconds since the epoch. */
    fun now(): Long {
        val now = Times.roundedDown(clock.instant()).coerceAtMost(Times.LATEST - 1)
        // Seldom written, as many threads call this.
        if (now > latest.get() + CLOCK_STEP_MICROS) latest.accumulateAndGet(now, ::maxOf)
        return now
    }

    /** Returns the latest time before [now], by which the loop sees that the clock was set back. */
    fun replaceLatest(now: Long): Long = latest.getAndSet(now)

    /** @param data a copy of the caller's. */
    fun put(key: K, trigger: Trigger, priority: Priority, data: ByteArray? = null, keepsDue: Boolean = false) {
        val now = now()
        val times = DueTimes(config.misfire)
        times.first(trigger, key, now)
        table.step {
            checkOpen()
            val slot = table.slotOf(key)
            val goesOn = keepsDue && goesOn(slot, trigger)
            if (goesOn) table.redefine(slot, trigger, priority)
            table.unmark(slot, IF_ABSENT)
            define(slot, trigger, priority, data, times.takeIf { !goesOn }, now)
            if (keepsDue && !table.isLoaded) table.mark(slot, KEEP_DUE)
        }
        times.failure?.let { report(key, it) }
    }

    /** Returns whether there was no entry. */
    fun putIfAbsent(key: K, trigger: Trigger, priority: Priority, data: ByteArray?): Boolean {
        if (table.step { table.findLive(key) >= 0 && !table.hasEnded }) return false
        val now = now()
        val times = DueTimes(config.misfire)
        times.first(trigger, key, now)
        val isAbsent =
            table.step {
                checkOpen()
                if (table.findLive(key) >= 0) return@step false
                val slot = table.slotOf(key)
                define(slot, trigger, priority, data, times, now)
                if (!table.isLoaded) table.mark(slot, IF_ABSENT)
                true
            }
        if (isAbsent) times.failure?.let { report(key, it) }
        return isAbsent
    }

    /** In a step; without [times] the entry is defined already. */
    private fun define(slot: Int, trigger: Trigger, priority: Priority, data: ByteArray?, times: DueTimes?, now: Long) {
        if (times != null) table.define(slot, trigger, priority)
        table.setData(slot, data)
        if (times != null) start(slot, times, now)
        table.markDirty(slot, hasEdited = true)
        table.freeIfUnused(slot)
    }

    /** Whether the entry of [slot] has a due time, a pause or a run that [trigger] can take over. */
    private fun goesOn(slot: Int, trigger: Trigger): Boolean {
        if (!table.has(slot, LIVE) || table.has(slot, FAILED)) return false
        val kind = effective(trigger)
        // The due time of an `at` is its own.
        val known = effective(table.triggerOf(slot)) as? AtTrigger
        if (kind is AtTrigger || known != null) return (kind as? AtTrigger)?.instant == known?.instant
        return slot in table.heap || table.has(slot, PAUSED) || kind is FixedDelayTrigger && table.runs[slot] != null
    }

    private fun start(slot: Int, times: DueTimes, now: Long) =
        if (times.failure != null) table.fail(slot) else startAt(slot, times.next, now)

    /** The entry of [slot], which has no due time, is due at [due]; if never, it is removed. */
    fun startAt(slot: Int, due: Long, now: Long) {
        if (due == Times.NEVER) return table.remove(slot)
        table.schedule(slot, due)
        if (due < now) table.mark(slot, LATE)
    }

    fun remove(key: K): Boolean = edit(key) { table.remove(it) }

    fun pause(key: K): Boolean = edit(key) { table.pause(it) }

    val isPaused: Boolean
        get() = table.step { table.isPaused }

    /** Pauses the schedule as a whole, or resumes it. */
    fun setPaused(isPaused: Boolean) =
        table.step {
            checkOpen()
            if (table.isPaused != isPaused || !table.isLoaded) {
                table.setPaused(isPaused)
                table.markPauseDirty()
            }
        }

    /** The entries behind that of [after], a step for each few of them. */
    fun entries(after: K?, limit: Int): List<ScheduleEntry<K>> {
        require(limit >= 1) { "limit = $limit, must be at least 1" }
        val found = ArrayList<ScheduleEntry<K>>()
        var slot = 0
        if (after != null) {
            slot = table.step { table.keys.find(after) } + 1
            require(slot > 0) { "after = ${nameOf(after)} is no entry any more: take an earlier one" }
        }
        var isOver = false
        while (!isOver) table.step {
            val end = minOf(slot + SLOTS_OF_A_STEP, table.keys.capacity)
            while (slot < end && found.size < limit) {
                if (table.has(slot, LIVE)) found += entryOf(slot)
                slot++
            }
            isOver = found.size == limit || slot >= table.keys.capacity
        }
        return found
    }

    private fun entryOf(slot: Int): ScheduleEntry<K> {
        var since = Times.NEVER
        table.runs[slot]?.all?.forEach { if (it.hasBegun) since = minOf(since, it.begunAt) }
        val outcome = table.lastOutcomeOf(slot)
        return ScheduleEntry(
            table.keys.keyOf(slot),
            table.triggerOf(slot),
            table.priorityOf(slot),
            instantOf(slot),
            table.pausedByOf(slot),
            if (since == Times.NEVER) null else Times.instantOf(since),
            outcome?.let { Times.instantOf(table.lastRunOf(slot)) },
            outcome,
        )
    }

    fun triggerNow(key: K): Boolean =
        table.step {
            checkOpen()
            val slot = table.findLive(key)
            if (slot >= 0) table.trigger(slot)
            slot >= 0
        }

    /** Returns whether there is such an entry. */
    private inline fun edit(key: K, action: (slot: Int) -> Unit): Boolean =
        table.step {
            checkOpen()
            val slot = table.findLive(key)
            if (slot < 0) return@step false
            action(slot)
            table.unmark(slot, IF_ABSENT)
            table.markDirty(slot, hasEdited = true)
            table.freeIfUnused(slot)
            true
        }

    /** The entry gets its next due time from now on, as if it was put anew. */
    fun resume(key: K): Boolean {
        val times = DueTimes(config.misfire)
        while (true) {
            val trigger =
                table.step {
                    checkOpen()
                    val slot = table.findLive(key)
                    if (slot < 0) return false
                    if (!table.has(slot, PAUSED)) return true
                    table.triggerOf(slot)
                }
            val now = now()
            times.first(trigger, key, now)
            val isDone =
                table.step {
                    val slot = table.findLive(key)
                    if (slot < 0 || table.triggers[slot] !== trigger || !table.has(slot, PAUSED)) return@step false
                    val hasFailed = table.has(slot, RUN_FAILED)
                    table.unmark(slot, PAUSED or FAILED or RUN_FAILED or IF_ABSENT)
                    if (!table.has(slot, ENDING)) start(slot, times, now)
                    if (hasFailed) table.mark(slot, RESUMED)
                    table.markDirty(slot, hasEdited = true)
                    table.freeIfUnused(slot)
                    true
                }
            if (!isDone) continue
            times.failure?.let { report(key, it) }
            return true
        }
    }

    fun failedTriggers(): List<K> = table.step { table.failedKeys() }

    fun nextDue(key: K): Instant? =
        table.step {
            val slot = table.findLive(key)
            if (slot < 0) null else instantOf(slot)
        }

    /** When the first entry fires; null if there is none that is due. */
    fun firstDue(): Instant? {
        val due = table.step { if (table.isPaused) Times.NEVER else table.heap.firstDue }
        val resolution = config.resolution.inWholeMicroseconds
        return if (due == Times.NEVER) null else Times.instantOf(Times.roundedUp(due, resolution))
    }

    /** When [slot] is due; null if it is not in the heap. */
    private fun instantOf(slot: Int): Instant? {
        val due = table.heap.dueOf(slot)
        return if (due == Times.NEVER) null else exactly(due, table.triggers[slot])
    }

    /** The failure by which it has ended, if it has. */
    val endedBy: Throwable?
        get() = refusal.second

    /** The schedule ends by [failure]. Calls its `toString`, which is the user's code. */
    fun endBy(failure: Throwable) {
        refusal = "$label has ended: $failure" to failure
    }

    fun checkOpen() {
        if (table.hasEnded) throw refusal.let { (message, cause) -> IllegalStateException(message, cause) }
    }

    /** How long a run of [key] may take; calls code of the user. */
    fun runTimeout(key: K): Duration {
        val limit = config.runTimeout(key)
        require(limit.isPositive()) { "runTimeout of '${nameOf(key)}' = $limit, must be positive" }
        return limit
    }

    /** Passes [failure] to the user. */
    fun report(key: Any, failure: Throwable) = report(config.onFailure, key, failure)

    companion object {
        /** Smaller steps of the clock have no effect. */
        const val CLOCK_STEP_MICROS = 1_000_000L

        /** So that a page of many entries holds up nothing else. */
        private const val SLOTS_OF_A_STEP = 1_000
    }
}

/** The due time [micros] of [trigger]: that of `at` is the user's own, with its nanoseconds. */
internal fun exactly(micros: Long, trigger: Trigger?): Instant =
    (trigger?.let(::effective) as? AtTrigger)?.instant ?: Times.instantOf(micros)
