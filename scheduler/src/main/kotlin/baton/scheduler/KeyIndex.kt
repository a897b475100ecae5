package baton.scheduler

import java.util.concurrent.ConcurrentHashMap

/**
 * The tasks that have a key and have not ended, in the order in which they were scheduled. Adding and removing is O(1).
 */
internal class KeyIndex {
    private val tasks = ConcurrentHashMap<Any, LinkedHashSet<ScheduledTask<*>>>()

    fun add(key: Any, task: ScheduledTask<*>) {
        tasks.compute(key) { _, before -> (before ?: LinkedHashSet(1)).also { it.add(task) } }
    }

    fun remove(key: Any, task: ScheduledTask<*>) {
        tasks.computeIfPresent(key) { _, before ->
            before.remove(task)
            before.ifEmpty { null }
        }
    }

    fun of(key: Any): List<ScheduledTask<*>> {
        var found = emptyList<ScheduledTask<*>>()
        tasks.computeIfPresent(key) { _, now -> now.also { found = it.toList() } }
        return found
    }
}
