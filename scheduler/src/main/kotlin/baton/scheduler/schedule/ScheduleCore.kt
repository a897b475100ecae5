package baton.scheduler.schedule

import baton.Priority
import baton.scheduler.ScheduleConfig
import baton.scheduler.Trigger
import baton.scheduler.schedule.EntryFlags.ENDING
import baton.scheduler.schedule.EntryFlags.FAILED
import baton.scheduler.schedule.EntryFlags.LATE
import baton.scheduler.schedule.EntryFlags.PAUSED
import baton.scheduler.tasks.nameOf
import baton.waiting.clock.BoundClock
import baton.waiting.threads.Trampoline
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

    fun put(key: K, trigger: Trigger, priority: Priority) {
        val now = now()
        val times = DueTimes(config.misfire)
        times.first(trigger, key, now)
        table.step {
            checkOpen()
            val slot = table.slotOf(key)
            table.define(slot, trigger, priority)
            start(slot, times, now)
            table.markDirty(slot, hasEdited = true)
            table.freeIfUnused(slot)
        }
        times.failure?.let { report(key, it) }
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
                    table.unmark(slot, PAUSED or FAILED)
                    if (!table.has(slot, ENDING)) start(slot, times, now)
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
        val due = table.step { table.heap.firstDue }
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
    fun report(key: Any, failure: Throwable) {
        try {
            config.onFailure(key, failure)
        } catch (e: Throwable) {
            if (e !== failure) e.addSuppressed(failure)
            Trampoline.report(e)
        }
    }

    companion object {
        /** Smaller steps of the clock have no effect. */
        const val CLOCK_STEP_MICROS = 1_000_000L
    }
}

/** The due time [micros] of [trigger]: that of `at` is the user's own, with its nanoseconds. */
internal fun exactly(micros: Long, trigger: Trigger?): Instant =
    (trigger?.let(::effective) as? AtTrigger)?.instant ?: Times.instantOf(micros)
