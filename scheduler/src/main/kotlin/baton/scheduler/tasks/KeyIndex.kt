package baton.scheduler.tasks

import java.util.concurrent.ConcurrentHashMap

/**
 * The tasks that have a key and have not ended, in the order in which they were scheduled. Adding and removing is O(1).
 */
internal class KeyIndex {
    /**
     * A key, with the hash that it had when its first task was added. If the key changes afterwards, or its code
     * throws, its tasks still find the entry, because entries that are in the map are compared by identity.
     */
    class Entry(private val key: Any) {
        private val hash = key.hashCode()

        /** Both are guarded by the map: `compute` locks the entry's bin. */
        val tasks = LinkedHashSet<TaskEntry>(1)
        var isInMap = false

        override fun hashCode() = hash

        override fun equals(other: Any?): Boolean {
            if (this === other) return true
            return other is Entry && hash == other.hash && !(isInMap && other.isInMap) && key == other.key
        }
    }

    private val entries = ConcurrentHashMap<Entry, Entry>()

    /** Adds [task] and sets its entry. From here on other threads may find the task. */
    fun add(key: Any, task: TaskEntry) {
        val new = Entry(key)
        entries.compute(new) { _, before ->
            val entry = before ?: new
            entry.isInMap = true
            entry.tasks.add(task)
            task.keyEntry = entry
            entry
        }
    }

    /** Calls no code of the key. */
    fun remove(entry: Entry, task: TaskEntry) {
        entries.computeIfPresent(entry) { _, now ->
            now.tasks.remove(task)
            now.takeIf { it.tasks.isNotEmpty() }
        }
    }

    fun of(key: Any): List<TaskEntry> {
        var found = emptyList<TaskEntry>()
        entries.computeIfPresent(Entry(key)) { _, now -> now.also { found = it.tasks.toList() } }
        return found
    }
}
