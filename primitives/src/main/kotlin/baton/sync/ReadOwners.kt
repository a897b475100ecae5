package baton.sync

import baton.waiting.boost.BoostableHolder
import java.util.IdentityHashMap

/**
 * Who reads, or waits to read, with an owner. Guarded by the lock of its core.
 *
 * When a crowd of readers is let in, all its members' entries change from waiting to holding without being touched: an
 * entry looks at its crowd when it is looked at ([Entry.catchUp]). There is at most one crowd that still gathers, so an
 * entry waits in one at most.
 */
internal class ReadOwners {
    private var entries = IdentityHashMap<Any, Entry>()

    /** The most entries that this map had: it never becomes smaller by itself. */
    private var most = 0

    class Entry(val owner: Any) {
        private var held = 0
        private var waiting = 0
        private var crowd: ReaderBatch? = null

        /** The first of its coroutines that is known, while it holds. */
        var note: BoostableHolder? = null

        val isEmpty: Boolean get() = held + waiting == 0

        val holds: Boolean
            get() {
                catchUp()
                return held > 0
            }

        fun hold() {
            catchUp()
            held++
        }

        fun wait(crowd: ReaderBatch) {
            catchUp()
            this.crowd = crowd
            waiting++
        }

        /** It waits no more, and was not let in. */
        fun leave() {
            waiting--
        }

        fun release() {
            catchUp()
            held--
        }

        private fun catchUp() {
            if (crowd?.hasEnded != true) return
            held += waiting
            waiting = 0
            crowd = null
        }
    }

    val isEmpty: Boolean get() = entries.isEmpty()

    fun find(owner: Any): Entry? = entries[owner]

    fun entry(owner: Any): Entry = entries.getOrPut(owner) { Entry(owner) }.also { most = maxOf(most, entries.size) }

    fun removeIfEmpty(entry: Entry) {
        if (!entry.isEmpty) return
        entries.remove(entry.owner)
        if (most > MANY && entries.size < most / SHRINK) {
            entries = IdentityHashMap(entries)
            most = entries.size
        }
    }

    fun holders(): List<Any> = entries.values.filter { it.holds }.map { it.owner }

    private companion object {
        private const val MANY = 64
        private const val SHRINK = 8
    }
}
