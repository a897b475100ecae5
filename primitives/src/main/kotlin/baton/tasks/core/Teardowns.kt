package baton.tasks.core

import baton.waiting.LinkedEntries
import baton.waiting.LinkedEntry
import kotlinx.coroutines.DisposableHandle

/**
 * The teardowns of one task that have not run: a stack from which any entry can be removed in O(1).
 *
 * ```
 * open ──next() finds none──▶ ended, with endCause: a thread that comes now runs its teardown itself
 *   └────────drop()─────────▶ dropped: the task has a value, none ever runs
 * ```
 */
internal class Teardowns {
    /** Null once they are dropped. */
    private var entries: LinkedEntries<Entry>? = LinkedEntries()
    private var endCause: Throwable? = null

    inner class Entry(val teardown: suspend (Throwable) -> Unit) : LinkedEntry<Entry>(), DisposableHandle {
        internal var isLinked = false

        override fun dispose() = synchronized(this@Teardowns) { unlink(this) }
    }

    /** Pushes [entry]. If the teardowns have ended, returns the cause instead: then the caller must run it. */
    @Synchronized
    fun add(entry: Entry): Throwable? {
        val entries = entries ?: return null
        if (endCause != null) return endCause
        entries.add(entry)
        entry.isLinked = true
        return null
    }

    /** Removes and returns the newest entry. If there is none the teardowns have ended, because of [cause]. */
    @Synchronized
    fun next(cause: Throwable): Entry? {
        val next = entries?.last
        if (next == null) endCause = cause else unlink(next)
        return next
    }

    @Synchronized
    fun drop() {
        entries = null
    }

    private fun unlink(entry: Entry) {
        if (!entry.isLinked) return
        entry.isLinked = false
        entries?.remove(entry)
    }
}
