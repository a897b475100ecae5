package baton.waiting

import java.util.concurrent.atomic.AtomicInteger

/**
 * Whether the waits of a core are noted: while there is a watcher. It does not refer to the core, so that a watcher
 * does not keep the core in memory.
 */
internal class WaitWatch {
    private val watchers = AtomicInteger()

    val isOn: Boolean
        get() = watchers.get() > 0

    fun begin() {
        watchers.incrementAndGet()
    }

    /** Once for each [begin]. */
    fun end() {
        watchers.decrementAndGet()
    }
}
