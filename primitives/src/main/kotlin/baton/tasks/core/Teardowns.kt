package baton.tasks.core

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
    private var newest: Entry? = null
    private var endCause: Throwable? = null
    private var dropped = false

    inner class Entry(val teardown: suspend (Throwable) -> Unit) : DisposableHandle {
        internal var older: Entry? = null
        internal var newer: Entry? = null
        internal var isLinked = false

        override fun dispose() = synchronized(this@Teardowns) { unlink(this) }
    }

    /** Pushes [entry]. If the teardowns have ended, returns the cause instead: then the caller must run it. */
    @Synchronized
    fun add(entry: Entry): Throwable? {
        if (dropped) return null
        if (endCause != null) return endCause
        entry.older = newest
        newest?.newer = entry
        newest = entry
        entry.isLinked = true
        return null
    }

    /** Removes and returns the newest entry. If there is none the teardowns have ended, because of [cause]. */
    @Synchronized
    fun next(cause: Throwable): Entry? {
        val next = newest
        if (next == null) endCause = cause else unlink(next)
        return next
    }

    @Synchronized
    fun drop() {
        dropped = true
        newest = null
    }

    private fun unlink(entry: Entry) {
        if (!entry.isLinked || dropped) return
        entry.isLinked = false
        val older = entry.older
        val newer = entry.newer
        if (newer == null) newest = older else newer.older = older
        older?.newer = newer
        entry.older = null
        entry.newer = null
    }
}
