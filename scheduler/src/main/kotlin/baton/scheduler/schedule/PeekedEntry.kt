package baton.scheduler.schedule

import baton.scheduler.Trigger

/** An entry of the heap as a step has read it, while its trigger is evaluated without the lock. */
internal class PeekedEntry<K : Any>(private val table: EntryTable<K>) {
    private var readKey: K? = null
    private var readTrigger: Trigger? = null

    var slot = -1
        private set

    var due = 0L
        private set

    /** An entry of the heap is LIVE, so it has a key and a trigger. */
    val key: K
        get() = checkNotNull(readKey)

    val trigger: Trigger
        get() = checkNotNull(readTrigger)

    /** In a step. */
    fun read(slot: Int) {
        this.slot = slot
        readKey = table.keys[slot]
        readTrigger = table.triggers[slot]
        due = table.heap.dueOf(slot)
    }

    /** Whether no edit came between; in a step. */
    val isUnchanged: Boolean
        get() = table.keys[slot] === readKey && table.triggers[slot] === readTrigger && table.heap.dueOf(slot) == due
}
