package baton.tasks

import kotlinx.coroutines.DisposableHandle

/**
 * The teardowns of one task that have not run: a stack from which any may be taken out in O(1).
 *
 * ```
 * open ──next() finds none──▶ ended, with why: who comes now runs his by himself
 *   └────────drop()─────────▶ dropped: the task has a value, none ever runs
 * ```
 */
internal class Teardowns {
    private var newest: Entry? = null
    private var why: Throwable? = null
    private var dropped = false

    inner class Entry(val teardown: suspend (Throwable) -> Unit) : DisposableHandle {
        internal var older: Entry? = null
        internal var newer: Entry? = null
        internal var stands = false

        override fun dispose() = synchronized(this@Teardowns) { takeOut(this) }
    }

    /** Puts [entry] on top. If all is over answers why: then it is for the caller to run it. */
    @Synchronized
    fun add(entry: Entry): Throwable? {
        if (dropped) return null
        if (why != null) return why
        entry.older = newest
        newest?.newer = entry
        newest = entry
        entry.stands = true
        return null
    }

    /** Takes out the newest. If there is none all is over, and [cause] is why. */
    @Synchronized
    fun next(cause: Throwable): Entry? {
        val next = newest
        if (next == null) why = cause else takeOut(next)
        return next
    }

    @Synchronized
    fun drop() {
        dropped = true
        newest = null
    }

    private fun takeOut(entry: Entry) {
        if (!entry.stands || dropped) return
        entry.stands = false
        val older = entry.older
        val newer = entry.newer
        if (newer == null) newest = older else newer.older = older
        older?.newer = newer
        entry.older = null
        entry.newer = null
    }
}
