package baton.scheduler.schedule

import baton.scheduler.Due
import baton.scheduler.Misfire
import baton.scheduler.Overlap
import baton.scheduler.RunOutcome
import baton.scheduler.ScheduleConfig
import baton.scheduler.Trigger
import baton.scheduler.schedule.EntryFlags.ENDING
import baton.scheduler.schedule.EntryFlags.LATE
import baton.scheduler.schedule.EntryFlags.LIVE
import baton.scheduler.schedule.EntryFlags.PAUSED
import baton.scheduler.schedule.EntryFlags.RESUMED
import baton.scheduler.schedule.EntryFlags.RUN_FAILED
import baton.scheduler.schedule.EntryFlags.TRIGGERED
import kotlin.time.Duration.Companion.microseconds
import kotlinx.coroutines.Job

/**
 * Fires entries: the steps of the loop, which alone takes due entries, and those of the actions.
 *
 * A fire is: [peek] reads the entry that is due first; [DueTimes.after] evaluates its trigger; [commit] sets the next
 * due time and decides whether there is a run. Then the run is handed over, [begin]s when it has a place, and at its
 * [end] the run that follows on it, if any, takes over its place in [EntryTable.runs].
 */
internal class FireCore<K : Any>(private val config: ScheduleConfig, private val table: EntryTable<K>) {
    private val resolution = config.resolution.inWholeMicroseconds

    // The loop alone uses these.
    private val entry = PeekedEntry(table)
    private val times = DueTimes(config.misfire)

    /** The earliest time at which the loop has run, by its clock: an `at` that was due before is a misfire. */
    var startedAt = Times.LATEST

    private val counts = FireCounts()

    /** Finds the entry that is due first. Returns false if none is due at [now]. */
    fun peek(now: Long): Boolean =
        table.step {
            val isDue = !table.isPaused && table.heap.size > 0 && table.heap.firstDue <= now
            if (isDue) entry.read(table.heap.firstSlot)
            isDue
        }

    /**
     * Fires the peeked entry. Returns the run to hand over, or null if there is none. If the trigger throws, the entry
     * is FAILED, and [onFailure] is called.
     */
    fun fire(now: Long, onFailure: (K, Throwable) -> Unit): Firing<K>? {
        val key = entry.key
        times.after(entry.trigger, key, entry.due, now)
        val failure = times.failure
        val firing = table.step { if (entry.isUnchanged) commit(now, failure != null) else null }
        if (failure != null) onFailure(key, failure)
        return firing
    }

    private fun commit(now: Long, hasFailed: Boolean): Firing<K>? {
        val slot = entry.slot
        val kind = effective(entry.trigger)
        val isSkipped = isMisfire(kind, now) && config.misfire == Misfire.Skip
        table.unmark(slot, LATE or RESUMED)
        // Before the run, which takes place all the same.
        if (hasFailed) table.fail(slot)
        val firing = if (isSkipped) skip() else run()
        when {
            hasFailed -> {}
            times.next != Times.NEVER -> table.schedule(slot, times.next)
            kind is FixedDelayTrigger -> {
                table.heap.remove(slot)
                if (table.runs[slot] == null) table.schedule(slot, Times.saturated(now, kind.delayMicros))
            }
            table.runs[slot] == null -> table.remove(slot)
            else -> {
                table.heap.remove(slot)
                table.mark(slot, ENDING)
                table.runsOf(slot).run { last = firing ?: waiting }
            }
        }
        // With a run, the row changes at its end: a crash before repeats it.
        if (kind !is EveryTrigger && table.runs[slot] == null) table.markDirty(slot, false)
        table.freeIfUnused(slot)
        return firing
    }

    private fun isMisfire(kind: Trigger, now: Long): Boolean {
        val lag = now - entry.due
        return when (kind) {
            is AtTrigger ->
                !table.has(entry.slot, RESUMED) &&
                    (table.has(entry.slot, LATE) || entry.due < startedAt || lag >= LATE_AT_MICROS)
            is FixedDelayTrigger -> lag >= kind.delayMicros && lag > resolution
            // Of a period shorter than the resolution several due times share a wake-up.
            else -> times.passed > 1 && lag > resolution
        }
    }

    private fun skip(): Firing<K>? {
        counts.skipped += times.passed
        return null
    }

    private fun run(): Firing<K>? {
        val slot = entry.slot
        val key = entry.key
        val isSkipping = config.misfire == Misfire.Skip
        if (isSkipping) counts.skipped += times.passed - 1
        val missed = if (isSkipping) 0 else (times.passed - times.runs).coerceAtMost(Int.MAX_VALUE.toLong()).toInt()
        val catchUp = times.catchUp(entry.trigger, key, entry.due)
        val state = table.runsOf(slot)
        val firing = Firing(slot, key, entry.trigger, entry.due, table.priorityOf(slot), missed, catchUp, state)
        if (state.count == 0 || config.overlap == Overlap.ALLOW) return start(firing)
        if (config.overlap == Overlap.QUEUE_ONE && state.waiting == null) state.waiting = firing
        else counts.skipped += if (isSkipping) 1 else times.passed
        return null
    }

    private fun start(firing: Firing<K>): Firing<K> {
        val state = firing.runs
        state.count++
        state.all.add(firing)
        if (firing.trigger != null) state.addDue(firing.at)
        return firing
    }

    /** Takes an entry for which `triggerNow` was called; null if there is none. */
    fun takeTriggered(now: Long): Firing<K>? =
        table.step {
            var started: Firing<K>? = null
            while (started == null && table.triggeredSlots.size > 0) {
                val slot = table.triggeredSlots.removeLast()
                if (!table.has(slot, TRIGGERED)) continue
                table.unmark(slot, TRIGGERED)
                val key = table.keys.keyOf(slot)
                val state = table.runsOf(slot)
                val firing = Firing(slot, key, null, now, table.priorityOf(slot), 0, null, state)
                if (state.count == 0 || config.overlap == Overlap.ALLOW) started = start(firing)
                // The caller expects a run that begins after the call. So that run waits, under every overlap.
                else if (state.waiting == null) state.waiting = firing
            }
            started
        }

    /**
     * The [attempt] of [firing] was handed over and is to run in [job]; it may have ended already. Returns whether the
     * run was cancelled before, by a thread that did not know the job.
     */
    fun startsInterrupted(firing: Firing<K>, attempt: Int, job: Job): Boolean =
        table.step {
            if (firing.job != null || firing.attempt != attempt || firing.lastEnded >= attempt) return@step false
            firing.job = job
            firing.interruption != null
        }

    /**
     * The action of [firing] is about to begin in [job]. Returns null if it was cancelled, or the entry removed or
     * paused, meanwhile.
     */
    fun begin(firing: Firing<K>, now: Long, job: Job): Due<K>? =
        table.step {
            if (firing.job == null) firing.job = job
            if (firing.isRevoked || firing.interruption != null) return@step null
            firing.hasBegun = true
            firing.begunAt = now
            firing.runs.begun++
            counts.fired++
            counts.running++
            val lag = (now - firing.at).coerceAtLeast(0)
            counts.lags.record((now - firing.readyAt).coerceAtLeast(0))
            val at = exactly(firing.at, firing.trigger)
            val data = if (table.runs[firing.slot] === firing.runs) table.dataOf(firing.slot) else null
            Due(firing.key, at, lag.microseconds, firing.priority, firing.missed, data)
        }

    /**
     * The time of an [attempt] of [firing], which has begun, is over. Returns the job to cancel, as the next attempt
     * may have another one by then; null if this one has ended, or is to end already.
     */
    fun timeOut(firing: Firing<K>, attempt: Int): Job? =
        table.step {
            val goesOn = firing.attempt == attempt && firing.lastEnded < attempt && firing.interruption == null
            if (!goesOn) return@step null
            firing.interruption = RunOutcome.TIMED_OUT
            firing.job
        }

    /**
     * The attempt of [firing] has failed, and another one is to follow: gives back the place. Returns false if the run
     * ends instead, because it was cancelled, or its entry removed or paused.
     *
     * @param readyAt when that attempt is due.
     * @param onWait called under the lock: a thread that cancels the run finds either its job or that it waits.
     */
    fun giveBack(firing: Firing<K>, readyAt: Long, onWait: () -> Unit): Boolean =
        table.step {
            val isDropped = firing.interruption == RunOutcome.CANCELLED || firing.isRevoked
            if (isDropped || !firing.hasBegun) return@step false
            firing.interruption = null
            firing.hasBegun = false
            firing.job = null
            firing.readyAt = readyAt
            firing.lastEnded = firing.attempt
            firing.runs.begun--
            counts.running--
            counts.retried++
            onWait()
            true
        }

    /**
     * Interrupts the runs of [key] that go on or wait for a place, and passes them to [onRun] without the lock; drops
     * those that wait for another run. Returns how many there were.
     */
    fun cancelRuns(key: K, check: () -> Unit, onRun: (Firing<K>) -> Unit): Int {
        val found = ArrayList<Firing<K>>(0)
        var dropped = 0
        table.step {
            check()
            val slot = table.keys.find(key)
            val state = if (slot >= 0) table.runs[slot] else null
            if (slot >= 0 && table.has(slot, TRIGGERED)) {
                table.unmark(slot, TRIGGERED)
                dropped++
            }
            if (state?.waiting != null) dropped++
            state?.waiting = null
            state?.all?.forEach {
                if (it.interruption != RunOutcome.CANCELLED && (it.hasBegun || !it.isRevoked)) found += it
            }
            for (firing in found) firing.interruption = RunOutcome.CANCELLED
            counts.cancelled += dropped
        }
        found.forEach(onRun)
        return found.size + dropped
    }

    /**
     * The run has ended. Returns the run to hand over next.
     *
     * @param outcome null if the end of the schedule has cancelled the run: then the entry stays as it is. A run that
     *   was cancelled by its key meanwhile is CANCELLED; a timeout that comes that late has no effect.
     * @param now null if the run was refused: then no other follows on it.
     */
    fun end(firing: Firing<K>, outcome: RunOutcome?, now: Long?): Firing<K>? =
        table.step {
            firing.hasEnded = true
            firing.lastEnded = firing.attempt
            firing.runs.all.remove(firing)
            if (!firing.hasBegun && firing.isRevoked) {
                moveDue(firing, null)
                return@step null
            }
            firing.outcome = firing.interruption.takeIf { it == RunOutcome.CANCELLED } ?: outcome
            val wasCancelled = firing.outcome == null
            val slot = firing.slot
            val state = firing.runs
            if (firing.hasBegun) {
                counts.running--
                state.begun--
            }
            firing.outcome?.let { ended(firing, it, now) }
            val next = if (!wasCancelled && now != null) following(firing, state) else null
            if (!wasCancelled) moveDue(firing, next)
            if (next != null) return@step next.also(state.all::add)
            if (--state.count > 0) return@step null
            if (wasCancelled && state.due != Times.NEVER) return@step null
            table.runs[slot] = null
            if (!wasCancelled && table.has(slot, LIVE)) endLast(slot, now ?: firing.at, (state.last ?: firing).outcome)
            table.freeIfUnused(slot)
            null
        }

    private fun ended(firing: Firing<K>, outcome: RunOutcome, now: Long?) {
        counts.ended(outcome)
        val slot = firing.slot
        if (table.runs[slot] === firing.runs && table.has(slot, LIVE)) table.setLastRun(slot, now ?: firing.at, outcome)
    }

    private fun following(firing: Firing<K>, state: EntryRuns<K>): Firing<K>? {
        val slot = firing.slot
        if (!table.has(slot, LIVE)) return null
        val isCurrent = !firing.isRevoked && table.triggers[slot] === firing.trigger && !table.has(slot, PAUSED)
        if (firing.catchUp != null && isCurrent && firing.outcome != RunOutcome.CANCELLED) {
            val at = firing.catchUp.next()
            if (at != Times.NEVER)
                return Firing(slot, firing.key, firing.trigger, at, table.priorityOf(slot), 0, firing.catchUp, state)
        }
        return state.waiting.also { state.waiting = null }
    }

    /** [firing] has ended, and [next], if any, takes its place: with the earliest due time of a run the row changes. */
    private fun moveDue(firing: Firing<K>, next: Firing<K>?) {
        val state = firing.runs
        val before = state.due
        if (firing.trigger != null) state.removeDue(firing.at)
        if (next?.trigger != null) state.addDue(next.at)
        if (state.due == before || table.runs[firing.slot] !== state) return
        val trigger = table.triggers[firing.slot] ?: return
        if (effective(trigger) !is EveryTrigger) table.markDirty(firing.slot, false)
    }

    /** No run of the entry is left. */
    private fun endLast(slot: Int, now: Long, outcome: RunOutcome?) {
        val kind = effective(table.triggerOf(slot))
        val hasFailed = outcome == RunOutcome.FAILED || outcome == RunOutcome.TIMED_OUT
        when {
            table.has(slot, ENDING) && kind is AtTrigger && hasFailed -> {
                table.failRun(slot)
                table.markDirty(slot, false)
            }
            table.has(slot, ENDING) || table.has(slot, RUN_FAILED) && outcome == RunOutcome.SUCCEEDED -> {
                table.remove(slot)
                table.markDirty(slot, false)
            }
            kind is FixedDelayTrigger && slot !in table.heap && !table.has(slot, PAUSED) -> {
                table.schedule(slot, Times.saturated(now, kind.delayMicros))
                table.markDirty(slot, false)
            }
            kind !is EveryTrigger -> table.markDirty(slot, false)
        }
    }

    /** Calls [action] with the counts, and how many entries are not written yet. */
    fun <R> counts(action: (FireCounts, Int) -> R): R = table.step { action(counts, table.unwritten) }

    private companion object {
        /** An `at` that is later than this was not delayed by a slow thread. */
        const val LATE_AT_MICROS = 60_000_000L
    }
}
