package baton.sync.core

import baton.waiting.holders.Holder
import baton.waiting.holders.KnownCallers
import java.util.IdentityHashMap

/**
 * The owners that read or wait to read. Guarded by the lock of its core.
 *
 * When a batch of readers is admitted, the entries of its members are not touched: an entry turns its waiting readers
 * into holding ones when it is next used, if it finds its batch ended ([Entry.catchUp]). There is at most one batch
 * that still gathers, so an entry waits in at most one.
 *
 * The map is created for the first owner, and small: most locks have none, and there may be a lock for each key of a
 * cache.
 */
internal class ReadOwners {
    private var entries: IdentityHashMap<Any, Entry>? = null

    /** The largest size of [entries] since it was created: the map's table never shrinks by itself. */
    private var largestSize = 0

    class Entry(val owner: Any) {
        private var held = 0
        private var waiting = 0
        private var batch: ReaderBatch? = null

        /** The recorded holders of this owner, no more of them than it holds; null until there was one. */
        private var recorded: ArrayList<Holder>? = null

        val isEmpty: Boolean
            get() = held + waiting == 0

        val holds: Boolean
            get() {
                catchUp()
                return held > 0
            }

        fun addHold() {
            catchUp()
            makeRoom()
            held++
        }

        fun addWaiting(batch: ReaderBatch) {
            catchUp()
            this.batch = batch
            waiting++
        }

        /** A reader that was not admitted waits no more. */
        fun removeWaiting() {
            waiting--
        }

        fun removeHold() {
            catchUp()
            held--
        }

        /**
         * Records [holder]. False if all holds of this owner are recorded: another call has ended this one, by mistake.
         */
        fun record(holder: Holder): Boolean {
            catchUp()
            val recorded = recorded ?: return false
            return recorded.size < held && recorded.add(holder)
        }

        /**
         * For the record of one more holder, which comes when the lock is granted: it must not want for memory then.
         */
        fun makeRoom() {
            if (!KnownCallers.areWanted) return
            val recorded = recorded ?: ArrayList<Holder>(1).also { recorded = it }
            recorded.ensureCapacity(held + waiting + 1)
        }

        /** After [removeHold] of the hold [by] a known holder, or null: the last one of the others has ended then. */
        fun unrecord(by: Holder?): Holder? {
            val recorded = recorded ?: return null
            if (by != null) recorded.remove(by)
            val ended = if (recorded.size > held) recorded.lastOrNull { !it.isToken } else null
            return ended?.also(recorded::remove)
        }

        private fun catchUp() {
            if (batch?.hasEnded != true) return
            held += waiting
            waiting = 0
            batch = null
        }
    }

    val isEmpty: Boolean
        get() = entries?.isEmpty() != false

    fun find(owner: Any): Entry? = entries?.get(owner)

    fun entry(owner: Any): Entry {
        val entries = entries ?: IdentityHashMap<Any, Entry>(FEW_OWNERS).also { entries = it }
        val entry = entries.getOrPut(owner) { Entry(owner) }
        largestSize = maxOf(largestSize, entries.size)
        return entry
    }

    fun removeIfEmpty(entry: Entry) {
        val entries = entries
        if (entries == null || !entry.isEmpty) return
        entries.remove(entry.owner)
        if (largestSize > SHRINK_MIN_SIZE && entries.size < largestSize / SHRINK_FACTOR) {
            this.entries = IdentityHashMap(entries)
            largestSize = entries.size
        }
    }

    fun holders(): List<Any> = entries?.values?.filter { it.holds }?.map { it.owner } ?: emptyList()

    private companion object {
        private const val FEW_OWNERS = 4
        private const val SHRINK_MIN_SIZE = 64
        private const val SHRINK_FACTOR = 8
    }
}
