package baton.waiting

import baton.InternalBatonApi

/** An entry of [LinkedEntries]; of one at a time. */
@InternalBatonApi
public abstract class LinkedEntry<E : LinkedEntry<E>> {
    // Guarded as the list is. They may serve another list of the same kind while the entry is in none.
    @JvmField public var previous: E? = null
    @JvmField public var next: E? = null
}

/** Entries in the order of their addition; any of them leaves in O(1). Guarded by the lock of whatever owns it. */
@InternalBatonApi
public class LinkedEntries<E : LinkedEntry<E>> {
    public var first: E? = null
        private set

    public var last: E? = null
        private set

    public var size: Int = 0
        private set

    public fun add(entry: E) {
        val before = last
        entry.previous = before
        if (before == null) first = entry else before.next = entry
        last = entry
        size++
    }

    /** [entry] must be in this list. */
    public fun remove(entry: E) {
        val before = entry.previous
        val after = entry.next
        if (before == null) first = after else before.next = after
        if (after == null) last = before else after.previous = before
        entry.previous = null
        entry.next = null
        size--
    }

    /** [action] may remove the entry that it gets. */
    public inline fun forEach(action: (E) -> Unit) {
        var entry = first
        while (entry != null) {
            val now: E = entry
            entry = now.next
            action(now)
        }
    }
}
