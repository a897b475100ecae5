package baton.scheduler.schedule

import baton.scheduler.Trigger

/** An entry of the heap as a step has read it, while its trigger is evaluated without the lock. */
internal class PeekedEntry<K : Any>(private val table: EntryTable<K>) {
    var slot = -1
        private set

    var key: K? = null
        private set

    var trigger: Trigger? = null
        private set

    var due = 0L
        private set

    /** In a step. */
    fun read(slot: Int) {
        this.slot = slot
        key = table.keys[slot]
        trigger = table.triggers[slot]
        due = table.heap.dueOf(slot)
    }

    /** Whether no edit came between; in a step. */
    val isUnchanged: Boolean
        get() = table.keys[slot] === key && table.triggers[slot] === trigger && table.heap.dueOf(slot) == due
}
