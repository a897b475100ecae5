package baton.scheduler.schedule

import baton.scheduler.PausedBy
import baton.scheduler.ScheduleConfig
import baton.scheduler.ScheduleRow
import baton.scheduler.Trigger
import baton.scheduler.schedule.EntryFlags.DIRTY
import baton.scheduler.schedule.EntryFlags.EDITED
import baton.scheduler.schedule.EntryFlags.IF_ABSENT
import baton.scheduler.schedule.EntryFlags.IN_FLIGHT
import baton.scheduler.schedule.EntryFlags.KEEP_DUE
import baton.scheduler.schedule.EntryFlags.LIVE
import baton.scheduler.schedule.EntryFlags.PAUSED
import baton.scheduler.schedule.EntryFlags.REFUSED

/**
 * The rows of a schedule's entries: which are to be written, and how the rows of others change the entries.
 *
 * The row of an entry goes from clean to DIRTY by a change, to IN_FLIGHT when it is taken to be written, and from there
 * to clean, or back to DIRTY if the store has failed. A change meanwhile makes it DIRTY as well. The last write wins:
 * - A row with a revision that is not newer than the one known for its key is ignored.
 * - A row of others is ignored if the user has changed the entry here and that is not written yet: its write follows
 *   and wins in the store, too. A due time that a run has set does not hold off the row.
 * - While an entry is IN_FLIGHT its batch keeps the newest row of others. It is merged afterwards, if it is newer than
 *   what was written.
 * - A row that the store refuses is REFUSED: it is not written again before the next edit of its entry.
 * - A row of this schedule that the store has written without confirming it may come back by a resync. It is known by
 *   its contents, and only its revision is taken over.
 * - An entry that was put before the rows were loaded replaces its row; one that was put to keep its due time takes
 *   that, and the pause, from the row; one that was put if absent is replaced by it.
 * - The latest deletions keep their slots, so that an older row that is still on its way does not bring them back.
 */
internal class StoreRows<K : Any>(private val config: ScheduleConfig, private val core: ScheduleCore<K>) {
    private val table = core.table
    private val deletions = RecentDeletions(table)

    /**
     * Up to this revision all rows are known. Written by one coroutine at a time. The revision of an own write raises
     * it only if no other can be between the two: a lost edit of others is then found by the next [resyncFrom].
     */
    var knownUpTo = 0L
        private set

    /** The batch that was taken last, until all of it is settled. */
    private var inFlight: StoreBatch<K>? = null

    /** The rows whose writes have failed, by slot: of each the first one since its slot was settled. */
    private val unconfirmed = HashMap<Int, ScheduleRow<K>>()

    /** Whether any row, own or of others, has a revision. */
    private var knowsAny = false

    /** The revision from which a resync loads: above 0 if any is known, so that the store returns deleted rows, too. */
    val resyncFrom: Long
        get() = table.step { if (knowsAny) knownUpTo.coerceAtLeast(1) else knownUpTo }

    /** Merges all rows that the store has had at the start: entries that were put, and removed, before win. */
    fun mergeFirst(rows: List<ScheduleRow<K>>) {
        for (row in rows) merge(row, isFirst = true)
        table.step {
            advance(rows)
            table.isLoaded = true
            for (slot in 0 until table.keys.capacity) if (table.keys[slot] != null) table.freeIfUnused(slot)
        }
    }

    fun mergeResync(rows: List<ScheduleRow<K>>) {
        for (row in rows) merge(row, isFirst = false)
        table.step { advance(rows) }
    }

    private fun advance(rows: List<ScheduleRow<K>>) {
        for (row in rows) knownUpTo = maxOf(knownUpTo, row.revision)
    }

    fun mergeEdits(rows: List<ScheduleRow<K>>) {
        for (row in rows) merge(row, isFirst = false)
    }

    private fun merge(row: ScheduleRow<K>, isFirst: Boolean) {
        val trigger = TriggerText.parse(row.trigger, config.triggers)
        val now = core.now()
        val times = DueTimes(config.misfire)
        val kind = effective(trigger)
        val stored = row.nextDue?.takeIf { kind !is EveryTrigger }?.let(Times::roundedUp) ?: Times.NEVER
        val isAt = kind is AtTrigger && stored != Times.NEVER
        if (!row.deleted && (trigger is UnknownTrigger || !row.isPaused && !isAt)) times.first(trigger, row.key, now)
        val isMerged = table.step { mergeStep(row, trigger, stored, times, isFirst, now) }
        if (isMerged) times.failure?.let { core.report(row.key, it) }
    }

    private fun mergeStep(
        row: ScheduleRow<K>,
        trigger: Trigger,
        stored: Long,
        times: DueTimes,
        isFirst: Boolean,
        now: Long,
    ): Boolean {
        knowsAny = true
        val isKnown = table.keys.find(row.key) >= 0
        val slot = table.slotOf(row.key)
        if (isKnown && row.revision <= table.revisionOf(slot)) return false
        val isEdited = table.has(slot, DIRTY) && table.has(slot, EDITED)
        val replaces = isFirst && table.has(slot, IF_ABSENT) && !table.has(slot, IN_FLIGHT) && !row.deleted
        if (isKnown && !replaces && (isFirst || isEdited || table.has(slot, IN_FLIGHT))) {
            if (isFirst) keepOwn(slot, row, stored) else if (!isEdited) inFlight?.keep(slot, row)
            return false
        }
        table.setRevision(slot, row.revision)
        if (table.has(slot, DIRTY) && unconfirmed[slot]?.isSameButForDueTime(row) == true) return false
        unconfirmed.remove(slot)
        table.unmark(slot, DIRTY or EDITED or REFUSED)
        if (row.deleted) {
            if (table.has(slot, LIVE)) table.remove(slot)
            deletions.add(slot)
            return true
        }
        table.define(slot, trigger, row.priority)
        table.setData(slot, row.data)
        takeLastRun(slot, row)
        when {
            row.isPaused -> pauseAs(slot, row)
            // A trigger that fails for a while takes no run away.
            times.failure != null && (stored == Times.NEVER || trigger is UnknownTrigger) -> table.fail(slot)
            // The clock by which the time was stored may have been ahead, or the trigger another one.
            else -> core.startAt(slot, minOf(stored, times.next), now)
        }
        if (!table.has(slot, LIVE) || isNew(slot, trigger, stored)) table.markDirty(slot, hasEdited = false)
        return true
    }

    /** Whether the entry has a due time that is not in the store: it would begin anew with each start. */
    private fun isNew(slot: Int, trigger: Trigger, stored: Long): Boolean {
        val kind = effective(trigger)
        return slot in table.heap && kind !is EveryTrigger && kind !is AtTrigger && table.heap.dueOf(slot) != stored
    }

    private fun pauseAs(slot: Int, row: ScheduleRow<K>) =
        if (row.pausedBy == PausedBy.FAILED_RUN) table.failRun(slot) else table.pause(slot)

    /** The row of others may be older than the last run here. */
    private fun takeLastRun(slot: Int, row: ScheduleRow<K>) {
        val at = row.lastRun?.let(Times::roundedDown) ?: return
        val outcome = row.lastOutcome ?: return
        if (table.lastOutcomeOf(slot) == null || table.lastRunOf(slot) < at) table.setLastRun(slot, at, outcome)
    }

    /** The entry was put or removed before the row was loaded, and replaces that row in the store. */
    private fun keepOwn(slot: Int, row: ScheduleRow<K>, stored: Long) {
        table.setRevision(slot, row.revision)
        if (table.has(slot, LIVE) && !row.deleted) {
            takeLastRun(slot, row)
            if (table.has(slot, KEEP_DUE)) keepDue(slot, row, stored)
        }
        table.markDirty(slot, hasEdited = true)
    }

    /** The entry was put to keep the due time and the pause of the [row]. An `at` has its own due time. */
    private fun keepDue(slot: Int, row: ScheduleRow<K>, stored: Long) {
        if (table.has(slot, PAUSED)) return
        val own = effective(table.triggerOf(slot)) as? AtTrigger
        val known = effective(TriggerText.parse(row.trigger, config.triggers)) as? AtTrigger
        if (own?.instant != known?.instant) return
        if (row.isPaused) pauseAs(slot, row)
        else if (own == null && slot in table.heap && stored < table.heap.dueOf(slot)) table.schedule(slot, stored)
    }

    /** A trigger that has failed is tried again. */
    private val ScheduleRow<K>.isPaused
        get() = pausedBy != null && pausedBy != PausedBy.FAILED_TRIGGER

    /** Own rows have [revision] now; in a step. */
    fun wrote(revision: Long) {
        knowsAny = true
        if (revision == knownUpTo + 1) knownUpTo = revision
    }

    /** No row is IN_FLIGHT any more; in a step. */
    fun settled() {
        inFlight = null
    }

    /** A write of [row] has failed, and may have had its effect all the same; in a step. */
    fun unconfirmed(slot: Int, row: ScheduleRow<K>) {
        unconfirmed.putIfAbsent(slot, row)
    }

    /** The row of [slot] is written, or will never be; in a step. */
    fun confirmed(slot: Int) {
        unconfirmed.remove(slot)
    }

    /** The due time may be that of a later write. The edit of another writer has none, or that of its trigger. */
    private fun ScheduleRow<K>.isSameButForDueTime(other: ScheduleRow<K>) =
        trigger == other.trigger &&
            priority == other.priority &&
            (nextDue == null) == (other.nextDue == null) &&
            pausedBy == other.pausedBy &&
            deleted == other.deleted &&
            data.contentEquals(other.data)

    /** The row of [slot] is deleted in the store, too; in a step. */
    fun deleted(slot: Int) = deletions.add(slot)

    /** Takes all dirty rows; each is consistent in itself. */
    fun take(): StoreBatch<K> {
        val batch = StoreBatch(table, this)
        val slots =
            table.step {
                inFlight = batch
                table.takeDirtySlots()
            }
        // A step for each row, so that edits do not wait for all of them. A slot that is listed twice, and was edited
        // since its row was taken, is in the next list.
        for (i in 0 until slots.size) table.step {
            if (table.has(slots[i], DIRTY) && !table.has(slots[i], IN_FLIGHT)) batch.add(slots[i])
        }
        return batch
    }
}
