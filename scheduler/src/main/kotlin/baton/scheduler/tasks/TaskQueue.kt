package baton.scheduler.tasks

import baton.scheduler.TaskSchedulerConfig
import baton.scheduler.dispatch.RunQueue
import baton.waiting.LinkedEntries

/**
 * The queued tasks, in one queue for each level, and the selection of the next one. Guarded by the lock of the core.
 */
internal class TaskQueue(config: TaskSchedulerConfig, private val counts: TaskCounts) {
    private val selector = TaskSelector(config)

    /** Created for the first task of a level, by [prepare]. */
    private val queues = arrayOfNulls<LinkedEntries<TaskEntry>>(RunQueue.LEVELS.size)
    private var mask = 0

    var size = 0
        private set

    fun sizeOf(level: Int): Int = queues[level]?.size ?: 0

    /** How long the head of [level] has waited, in nanoseconds. */
    fun headWait(level: Int, now: Long): Long = queues[level]?.first?.let { maxOf(0, now - it.since) } ?: 0

    /** Whether tasks may come to [level]. True stays true, so a thread may ask without the lock. */
    fun isPrepared(level: Int): Boolean = queues[level] != null

    /**
     * Creates the queue and the counters of [level] before a task comes to it, because a step that ran out of memory
     * half-way would leave tasks in no queue.
     */
    fun prepare(level: Int) {
        counts.prepare(level)
        if (!isPrepared(level)) queues[level] = LinkedEntries<TaskEntry>()
    }

    /** Adds [task] at the tail of its level, which is prepared. */
    fun add(task: TaskEntry) {
        checkNotNull(queues[task.level]).add(task)
        mask = mask or (1 shl task.level)
        size++
    }

    fun remove(task: TaskEntry) {
        val queue = checkNotNull(queues[task.level])
        queue.remove(task)
        if (queue.size == 0) mask = mask and (1 shl task.level).inv()
        if (--size == 0) selector.reset()
    }

    /** Takes out the task that the policy selects. The queue must not be empty. */
    fun dequeueNext(now: Long): TaskEntry {
        val level = selector.select(mask, now, queues, counts)
        val task = queues[level]?.first ?: error("level $level is empty, in mask $mask")
        remove(task)
        return task
    }

    /** The tail of the least urgent level that has tasks, if that is less urgent than [level]. */
    fun lastBelow(level: Int): TaskEntry? =
        (queues.lastIndex downTo level + 1).firstNotNullOfOrNull { queues[it]?.last }

    /** Calls [action] with the tasks of each level, the most urgent one to begin with. */
    fun forEachLevel(action: (LinkedEntries<TaskEntry>) -> Unit) = queues.forEach { if (it != null) action(it) }

    fun firstOfAnyLevel(): TaskEntry? = queues.firstNotNullOfOrNull { it?.first }
}
