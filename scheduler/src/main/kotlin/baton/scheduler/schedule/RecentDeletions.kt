package baton.scheduler.schedule

import baton.scheduler.schedule.EntryFlags.RECENTLY_DELETED

/**
 * The latest deleted entries. They keep their slots and so their revisions, by which an older row of others that is
 * still on its way is recognized. The lock of the table guards it.
 */
internal class RecentDeletions(private val table: EntryTable<*>) {
    private val slots = IntArray(CAPACITY) { -1 }
    private var count = 0

    fun add(slot: Int) {
        val index = count++ and CAPACITY - 1
        val oldest = slots[index]
        slots[index] = slot
        table.mark(slot, RECENTLY_DELETED)
        if (oldest < 0 || oldest == slot) return
        table.unmark(oldest, RECENTLY_DELETED)
        table.freeIfUnused(oldest)
    }

    private companion object {
        const val CAPACITY = 1024
    }
}
