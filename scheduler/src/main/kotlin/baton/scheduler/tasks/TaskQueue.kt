package baton.scheduler.tasks

import baton.scheduler.TaskSchedulerConfig
import baton.scheduler.dispatch.RunQueue

/**
 * The tasks that wait for their turn, a line for each level, and who of them is next. Guarded by the lock of the core.
 */
internal class TaskQueue(config: TaskSchedulerConfig) {
    private val order = TaskSelector(config)
    private val lines = Array(RunQueue.LEVELS.size) { TaskList() }
    private var mask = 0

    var size = 0
        private set

    /** See [TaskSelector.now]: not to be called under the lock. */
    fun now(): Long = order.now()

    fun sizeOf(level: Int): Int = lines[level].size

    /** How long the first of [level] has waited. */
    fun headWait(level: Int, now: Long): Long = lines[level].first?.let { maxOf(0, now - it.since) } ?: 0

    /** To the end of its level. */
    fun add(task: TaskEntry) {
        lines[task.level].add(task)
        mask = mask or (1 shl task.level)
        size++
    }

    fun remove(task: TaskEntry) {
        val line = lines[task.level]
        line.remove(task)
        if (line.size == 0) mask = mask and (1 shl task.level).inv()
        if (--size == 0) order.forget()
    }

    /** Takes out the one whose turn it is. There is one. */
    fun next(now: Long, counts: TaskCounts): TaskEntry {
        val level = order.next(mask, now, lines, counts)
        val task = lines[level].first ?: error("level $level is empty, in mask $mask")
        remove(task)
        return task
    }

    /** The last of the least urgent level, if that is below [level]. */
    fun lastBelow(level: Int): TaskEntry? =
        (lines.lastIndex downTo level + 1).firstNotNullOfOrNull { lines[it].last }

    fun any(): TaskEntry? = lines.firstNotNullOfOrNull { it.first }
}
