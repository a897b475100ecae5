package baton.scheduler.schedule

import baton.scheduler.ScheduleRow
import baton.scheduler.schedule.EntryFlags.DIRTY
import baton.scheduler.schedule.EntryFlags.EDITED
import baton.scheduler.schedule.EntryFlags.EDIT_IN_FLIGHT
import baton.scheduler.schedule.EntryFlags.FAILED
import baton.scheduler.schedule.EntryFlags.IN_FLIGHT
import baton.scheduler.schedule.EntryFlags.LIVE
import baton.scheduler.schedule.EntryFlags.MAYBE_STORED
import baton.scheduler.schedule.EntryFlags.PAUSED
import baton.scheduler.schedule.EntryFlags.REFUSED
import baton.scheduler.schedule.EntryFlags.ROW_DELETED

/**
 * Rows that were taken to be written, and their slots. They are settled from the first to the last: each is [written],
 * [refused] or, with all that follow, [failed]. A row of others that arrives meanwhile is kept until its slot is
 * settled: only then is it known which of the two is newer.
 */
internal class StoreBatch<K : Any>(private val table: EntryTable<K>, private val owner: StoreRows<K>) {
    val rows = ArrayList<ScheduleRow<K>>()
    private val slots = IntList()
    private var settled = 0

    /** The newest rows of others, by slot. */
    private val late = HashMap<Int, ScheduleRow<K>>()

    /** Takes the row of [slot], which is DIRTY; in a step. */
    fun add(slot: Int) {
        if (!table.has(slot, LIVE) && !table.isStored(slot) && !table.has(slot, MAYBE_STORED)) {
            // The store has no row of it.
            table.unmark(slot, DIRTY or EDITED)
            table.freeIfUnused(slot)
            return
        }
        val isEdited = table.has(slot, EDITED)
        table.mark(slot, if (isEdited) IN_FLIGHT or EDIT_IN_FLIGHT else IN_FLIGHT)
        table.unmark(slot, DIRTY or EDITED)
        slots.add(slot)
        rows += rowOf(slot, table.revisionOf(slot), isEdited)
    }

    /** Keeps [row] of others, whose [slot] is IN_FLIGHT; in a step. */
    fun keep(slot: Int, row: ScheduleRow<K>) {
        val kept = late[slot]
        if (kept == null || kept.revision < row.revision) late[slot] = row
    }

    /** The rows up to [until] are in the store. */
    fun written(until: Int, revision: Long) {
        val newer = ArrayList<ScheduleRow<K>>()
        table.step {
            owner.wrote(revision)
            while (settled < until) {
                val slot = slots[settled]
                table.unmark(slot, IN_FLIGHT or EDIT_IN_FLIGHT or MAYBE_STORED)
                table.setRevision(slot, revision)
                owner.confirmed(slot)
                val isDeleted = rows[settled].deleted
                if (isDeleted && table.has(slot, LIVE)) table.mark(slot, ROW_DELETED)
                if (isDeleted || !table.has(slot, LIVE)) owner.deleted(slot)
                late.remove(slot)?.let { if (it.revision > revision) newer += it }
                settled++
            }
            endIfSettled()
        }
        owner.mergeEdits(newer)
    }

    /** The store will never take the next row as it is. Returns its key. */
    fun refused(): K {
        val index = settled++
        val kept =
            table.step {
                val slot = slots[index]
                table.unmark(slot, IN_FLIGHT or EDIT_IN_FLIGHT)
                owner.confirmed(slot)
                if (!table.has(slot, DIRTY)) table.mark(slot, REFUSED)
                table.freeIfUnused(slot)
                endIfSettled()
                late.remove(slot)
            }
        owner.mergeEdits(listOfNotNull(kept))
        return rows[index].key
    }

    fun failed() {
        val kept = ArrayList<ScheduleRow<K>>()
        table.step {
            while (settled < slots.size) {
                val slot = slots[settled]
                table.markDirty(slot, hasEdited = table.has(slot, EDIT_IN_FLIGHT))
                table.unmark(slot, IN_FLIGHT or EDIT_IN_FLIGHT)
                // A store may have written what it could not confirm.
                table.mark(slot, MAYBE_STORED)
                owner.unconfirmed(slot, rows[settled])
                late.remove(slot)?.let { kept += it }
                settled++
            }
            endIfSettled()
        }
        owner.mergeEdits(kept)
    }

    private fun endIfSettled() {
        if (settled == slots.size) owner.settled()
    }

    private fun rowOf(slot: Int, revision: Long, isEdited: Boolean): ScheduleRow<K> {
        val trigger = table.triggers[slot]
        val text = if (trigger != null && TriggerText.hasText(trigger)) TriggerText.of(trigger) else null
        // A run that has not ended is due again after a crash.
        val running = table.runs[slot]?.due ?: Times.NEVER
        val due = if (running != Times.NEVER) running else table.heap.dueOf(slot)
        val kind = trigger?.let(::effective)
        val isPaused = table.has(slot, PAUSED) && !table.has(slot, FAILED)
        val outcome = table.lastOutcomeOf(slot)
        val nextDue =
            when {
                kind is EveryTrigger || isPaused -> null
                kind is AtTrigger -> kind.instant
                due == Times.NEVER -> null
                else -> exactly(due, trigger)
            }
        return ScheduleRow(
            key = table.keys.keyOf(slot),
            trigger = text ?: "",
            priority = table.priorityOf(slot),
            nextDue = nextDue,
            pausedBy = table.pausedByOf(slot),
            deleted = text == null,
            revision = revision,
            data = table.dataOf(slot),
            lastRun = outcome?.let { Times.instantOf(table.lastRunOf(slot)) },
            lastOutcome = outcome,
            isEdited = isEdited,
        )
    }
}
