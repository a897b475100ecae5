package baton.scheduler.schedule

import baton.Priority
import baton.channels.Channel
import baton.scheduler.PausedBy
import baton.scheduler.RunOutcome
import baton.scheduler.Trigger
import baton.scheduler.schedule.EntryFlags.DIRTY
import baton.scheduler.schedule.EntryFlags.EDITED
import baton.scheduler.schedule.EntryFlags.ENDING
import baton.scheduler.schedule.EntryFlags.FAILED
import baton.scheduler.schedule.EntryFlags.IF_ABSENT
import baton.scheduler.schedule.EntryFlags.KEEP_DUE
import baton.scheduler.schedule.EntryFlags.LATE
import baton.scheduler.schedule.EntryFlags.LIVE
import baton.scheduler.schedule.EntryFlags.OUTCOME
import baton.scheduler.schedule.EntryFlags.OUTCOME_SHIFT
import baton.scheduler.schedule.EntryFlags.PAUSED
import baton.scheduler.schedule.EntryFlags.RECENTLY_DELETED
import baton.scheduler.schedule.EntryFlags.REFUSED
import baton.scheduler.schedule.EntryFlags.RESUMED
import baton.scheduler.schedule.EntryFlags.ROW_DELETED
import baton.scheduler.schedule.EntryFlags.RUN_FAILED
import baton.scheduler.schedule.EntryFlags.TRIGGERED
import baton.scheduler.schedule.EntryFlags.UNWRITTEN

/*
 * How it works
 *
 * All state of a schedule's entries, by slot. Entries and their due times are changed in steps, each under `lock`.
 *
 *              put, a row of others
 *   free ────────────────────────────▶ LIVE ─────── remove, the last run, a row of others ───▶ removed
 *    ▲                                                                                           │
 *    └────── no run, nothing to write, and not one of the latest deletions (see StoreRows) ──────┘
 *
 * A LIVE entry is
 *   in the heap     with its due time, or
 *   PAUSED          by pause; FAILED because its trigger threw or is unknown; RUN_FAILED as its only run failed; or
 *   running         if the due time follows from the end of the run (fixedDelay), or there is none (ENDING)
 *
 * Writers:
 *   callers      put, remove, pause, resume: entries and their due times; triggerNow: the mark TRIGGERED   ScheduleCore
 *   the loop     the next due time of an entry that is due, then hands the run over                       FireCore
 *   actions      the end of a run: fixedDelay's next due time, the removal of ENDING, the run that waits  FireCore
 *   the store    marks: DIRTY, IN_FLIGHT; rows of others                                                  StoreRows
 *
 * Invariants:
 * (1) A slot in the heap is LIVE and not PAUSED.
 * (2) `runs[s]` is not null while runs of the slot are handed over and have neither ended nor been revoked; such a slot
 *     is not free. A revoked run refers to its own EntryRuns alone, as the slot may have another key by now.
 * (3) A slot is in `dirtySlots` at least once while it is DIRTY, and in `triggeredSlots` while it is TRIGGERED. A list
 *     may contain other slots, too; they are passed over.
 * (4) The loop sleeps no longer than until `wakeUpAt`. A step that makes an entry due earlier wakes it.
 *
 * Triggers, actions and callbacks run without the lock. Where a decision needs a trigger, a first step reads the entry,
 * the trigger is evaluated, and a second step takes effect only if the entry is still as the first one has read it.
 */
internal class EntryTable<K : Any>(private val resolution: Long) {
    val lock = Any()
    val keys = KeySlots<K>()
    val heap = DueHeap()
    val triggeredSlots = IntList()
    var triggers = arrayOfNulls<Trigger>(keys.capacity)
        private set

    var runs = arrayOfNulls<EntryRuns<K>>(keys.capacity)
        private set

    var revisions = LongArray(0)
        private set

    /** When the last run of a slot has ended, in microseconds; empty until the first run has. */
    private var lastRuns = LongArray(0)

    /** Empty until the first entry has data. */
    private var datas = arrayOfNulls<ByteArray>(0)

    private var flags = IntArray(keys.capacity)
    private var levels = ByteArray(keys.capacity)

    private var dirtySlots = IntList()

    /** How many are LIVE. */
    var size = 0
        private set

    /** How many are DIRTY or IN_FLIGHT. */
    var unwritten = 0
        private set

    /** Whether the rows of the store were loaded: removed entries are kept until then. */
    var isLoaded = false

    /** Whether the last flush has begun: no edit has an effect any more. */
    var hasEnded = false

    /** Whether the schedule is paused as a whole, and whether the store has yet to be told. */
    var isPaused = false
        private set

    var isPauseDirty = false

    /** Invariant 4. */
    var wakeUpAt = Times.EARLIEST

    /** Wakes the loop. */
    val wakeUps = Channel<Unit>(Channel.CONFLATED)

    /** Starts the time to the next flush. */
    val changes = Channel<Unit>(Channel.CONFLATED)

    private var mustWake = false
    private var hasChanged = false

    inline fun <R> step(action: () -> R): R {
        var wakesLoop = false
        var startsFlush = false
        try {
            return synchronized(lock) {
                try {
                    action()
                } finally {
                    wakesLoop = takeMustWake()
                    startsFlush = takeHasChanged()
                }
            }
        } finally {
            if (wakesLoop) wakeUps.trySend(Unit)
            if (startsFlush) changes.trySend(Unit)
        }
    }

    fun takeMustWake() = mustWake.also { mustWake = false }

    fun takeHasChanged() = hasChanged.also { hasChanged = false }

    fun has(slot: Int, flag: Int): Boolean = flags[slot] and flag != 0

    fun mark(slot: Int, flag: Int) {
        val before = flags[slot]
        flags[slot] = before or flag
        if (before and UNWRITTEN == 0 && flag and UNWRITTEN != 0) unwritten++
        if (before and LIVE == 0 && flag and LIVE != 0) size++
    }

    fun unmark(slot: Int, flag: Int) {
        val before = flags[slot]
        val after = before and flag.inv()
        flags[slot] = after
        if (before and UNWRITTEN != 0 && after and UNWRITTEN == 0) unwritten--
        if (before and LIVE != 0 && after and LIVE == 0) size--
    }

    fun priorityOf(slot: Int): Priority = LEVELS[levels[slot].toInt()]

    /** The trigger of [slot], which is LIVE. */
    fun triggerOf(slot: Int): Trigger = checkNotNull(triggers[slot]) { "slot $slot has no entry" }

    fun revisionOf(slot: Int): Long = if (slot < revisions.size) revisions[slot] else 0

    /** The store has a row of [slot] with [revision]. */
    fun setRevision(slot: Int, revision: Long) {
        if (slot >= revisions.size) revisions = revisions.copyOf(keys.capacity)
        revisions[slot] = revision.coerceAtLeast(1)
        unmark(slot, ROW_DELETED)
    }

    /** The bytes must not be changed. */
    fun dataOf(slot: Int): ByteArray? = if (slot < datas.size) datas[slot] else null

    fun setData(slot: Int, data: ByteArray?) {
        if (slot >= datas.size) {
            if (data == null) return
            datas = datas.copyOf(keys.capacity)
        }
        datas[slot] = data
    }

    /** When the last run of [slot] has ended, which has an outcome. */
    fun lastRunOf(slot: Int): Long = lastRuns[slot]

    /** How the last run of [slot] has ended; null if none has. */
    fun lastOutcomeOf(slot: Int): RunOutcome? = OUTCOMES.getOrNull((flags[slot] and OUTCOME ushr OUTCOME_SHIFT) - 1)

    fun setLastRun(slot: Int, at: Long, outcome: RunOutcome) {
        if (slot >= lastRuns.size) lastRuns = lastRuns.copyOf(keys.capacity)
        lastRuns[slot] = at
        flags[slot] = flags[slot] and OUTCOME.inv() or (outcome.ordinal + 1 shl OUTCOME_SHIFT)
    }

    fun pausedByOf(slot: Int): PausedBy? =
        when {
            !has(slot, PAUSED) -> null
            has(slot, FAILED) -> PausedBy.FAILED_TRIGGER
            has(slot, RUN_FAILED) -> PausedBy.FAILED_RUN
            else -> PausedBy.USER
        }

    /** The schedule is paused as a whole, or not. The loop looks at that. */
    fun setPaused(isPaused: Boolean) {
        this.isPaused = isPaused
        mustWake = true
    }

    /** The user has paused the schedule as a whole, or resumed it: the store is to keep that. */
    fun markPauseDirty() {
        isPauseDirty = true
        hasChanged = true
    }

    fun isStored(slot: Int): Boolean = revisionOf(slot) > 0 && !has(slot, ROW_DELETED)

    /** The slot of [key] if its entry is LIVE, or -1. */
    fun findLive(key: K): Int = keys.find(key).let { if (it >= 0 && has(it, LIVE)) it else -1 }

    /** The slot of [key], which is new if it has none. */
    fun slotOf(key: K): Int {
        val known = keys.find(key)
        if (known >= 0) return known
        val slot = keys.add(key)
        if (keys.capacity > flags.size) {
            flags = flags.copyOf(keys.capacity)
            levels = levels.copyOf(keys.capacity)
            triggers = triggers.copyOf(keys.capacity)
            runs = runs.copyOf(keys.capacity)
        }
        return slot
    }

    /** Makes the entry of [slot] LIVE, as [trigger] and [priority] say, with no due time. */
    fun define(slot: Int, trigger: Trigger, priority: Priority) {
        triggers[slot] = trigger
        levels[slot] = priority.ordinal.toByte()
        unmark(slot, PAUSED or FAILED or RUN_FAILED or ENDING or TRIGGERED or LATE or RESUMED or KEEP_DUE or IF_ABSENT)
        mark(slot, LIVE)
        runs[slot]?.waiting = null
        heap.remove(slot)
    }

    /** The LIVE entry of [slot] gets another trigger and level, and goes on as it was. */
    fun redefine(slot: Int, trigger: Trigger, priority: Priority) {
        triggers[slot] = trigger
        levels[slot] = priority.ordinal.toByte()
        if (slot in heap) heap.set(slot, heap.dueOf(slot), priority)
    }

    fun schedule(slot: Int, due: Long) {
        heap.set(slot, due, priorityOf(slot))
        if (wakeUpAt > Times.EARLIEST && Times.roundedUp(due, resolution) < wakeUpAt) mustWake = true
    }

    /** No run of [slot] that has not begun yet begins. If the last one has not, it is due when the entry is resumed. */
    fun pause(slot: Int) {
        mark(slot, PAUSED)
        unmark(slot, FAILED or RUN_FAILED or TRIGGERED or LATE or RESUMED)
        heap.remove(slot)
        val last = runs[slot]?.last
        revokeRuns(slot)
        if (runs[slot] == null || last?.hasBegun == false) unmark(slot, ENDING)
    }

    /** As [pause], because the trigger has thrown: the next start tries it again. */
    fun fail(slot: Int) {
        pause(slot)
        mark(slot, FAILED)
    }

    /** As [pause], because the run of an entry that is due once has failed. */
    fun failRun(slot: Int) {
        unmark(slot, ENDING)
        pause(slot)
        mark(slot, RUN_FAILED)
    }

    /** The keys of the FAILED entries. */
    fun failedKeys(): List<K> = (0 until keys.capacity).mapNotNull { if (has(it, FAILED)) keys[it] else null }

    private fun revokeRuns(slot: Int) {
        val state = runs[slot] ?: return
        state.revoke()
        if (state.count == 0) runs[slot] = null
    }

    /** The runs of [slot], which may be none yet. */
    fun runsOf(slot: Int): EntryRuns<K> = runs[slot] ?: EntryRuns<K>().also { runs[slot] = it }

    /** The loop hands over a run as soon as it can. */
    fun trigger(slot: Int) {
        if (has(slot, TRIGGERED)) return
        mark(slot, TRIGGERED)
        triggeredSlots.add(slot)
        mustWake = true
    }

    /** The entry of [slot] is no longer LIVE. */
    fun remove(slot: Int) {
        unmark(slot, LIVE or PAUSED or FAILED or RUN_FAILED or ENDING or TRIGGERED or LATE or REFUSED)
        unmark(slot, RESUMED or KEEP_DUE or IF_ABSENT or OUTCOME)
        setData(slot, null)
        heap.remove(slot)
        revokeRuns(slot)
        triggers[slot] = null
    }

    /** The row of [slot] is to be written, as the user [hasEdited] the entry, or because its due time has changed. */
    fun markDirty(slot: Int, hasEdited: Boolean) {
        val trigger = triggers[slot]
        val isInStore = isStored(slot) || has(slot, UNWRITTEN)
        if (hasEdited) {
            mark(slot, EDITED)
            unmark(slot, REFUSED)
        }
        if (has(slot, REFUSED)) return
        if (!isInStore && (trigger == null || !TriggerText.hasText(trigger))) return
        hasChanged = true
        if (has(slot, DIRTY)) return
        mark(slot, DIRTY)
        dirtySlots.add(slot)
    }

    fun takeDirtySlots(): IntList = dirtySlots.also { dirtySlots = IntList() }

    /** Frees a slot that is of no more use. */
    fun freeIfUnused(slot: Int) {
        if (!isLoaded || has(slot, LIVE or UNWRITTEN or RECENTLY_DELETED) || runs[slot] != null) return
        if (keys[slot] == null) return
        // First, because it calls code of the user.
        keys.remove(slot)
        flags[slot] = 0
        if (slot < revisions.size) revisions[slot] = 0
    }

    private companion object {
        val LEVELS = Priority.entries
        val OUTCOMES = RunOutcome.entries
    }
}
