package baton.scheduler.tasks

import baton.scheduler.TaskSchedulerConfig
import baton.scheduler.TaskSchedulerMetrics
import baton.scheduler.dispatch.RunQueue
import baton.scheduler.tasks.TaskEntry.Phase
import baton.waiting.LinkedEntries

/**
 * The tasks of a [TaskCore] that have not ended, in a list or queue for each phase, and the core's counters. Its
 * functions change the phase of a task together with its place. Guarded by the lock of the core.
 */
internal class TaskTable(config: TaskSchedulerConfig) : UnendedTasks() {
    val counts = TaskCounts()
    val queue = TaskQueue(config, counts)
    val awaitingCapacity = LinkedEntries<TaskEntry>()
    val running = LinkedEntries<TaskEntry>()

    fun addToQueue(task: TaskEntry) {
        task.phase = Phase.QUEUED
        queue.add(task)
    }

    fun awaitCapacity(task: TaskEntry) {
        task.phase = Phase.AWAITING_CAPACITY
        awaitingCapacity.add(task)
    }

    fun admit(task: TaskEntry) {
        awaitingCapacity.remove(task)
        addToQueue(task)
    }

    fun startNext(now: Long): TaskEntry {
        val task = queue.dequeueNext(now)
        val queuedLevel = task.level
        task.phase = Phase.RUNNING
        val level = task.effectiveLevel
        if (level != queuedLevel) task.level = level
        running.add(task)
        counts.started(queuedLevel, level, maxOf(0, now - task.since))
        // Not before it was queued: `now` is 0 if the clock has thrown.
        task.since = maxOf(now, task.since)
        return task
    }

    fun endRunning(task: TaskEntry, end: TaskEnd, now: Long) {
        running.remove(task)
        counts.ran(task.level, maxOf(0, now - task.since))
        markEnded(task, end)
    }

    /** Takes out a task that is QUEUED or AWAITING_CAPACITY. */
    fun dequeue(task: TaskEntry, end: TaskEnd): TaskEntry {
        if (task.phase == Phase.AWAITING_CAPACITY) awaitingCapacity.remove(task) else queue.remove(task)
        return markEnded(task, end)
    }

    /** [task] is in no list. */
    fun markEnded(task: TaskEntry, end: TaskEnd): TaskEntry {
        task.phase = Phase.ENDED
        counts.ended(task.level, end)
        return task
    }

    fun move(task: TaskEntry, level: Int) {
        val before = task.level
        if (level == before) return
        val isQueued = task.phase == Phase.QUEUED
        if (isQueued) queue.remove(task)
        task.level = level
        if (isQueued) queue.add(task)
        if (task.phase == Phase.RUNNING) counts.moved(before, level)
    }

    /** In an order in which the cancellation of one starts none of the next: running ones last. */
    fun tasksOf(group: GroupJob): List<TaskEntry> {
        val found = ArrayList<TaskEntry>()
        val add = { tasks: LinkedEntries<TaskEntry> -> tasks.forEach { if (it.group === group) found += it } }
        add(awaitingCapacity)
        queue.forEachLevel(add)
        add(running)
        return found
    }

    fun metrics(maxConcurrency: Int, now: Long): TaskSchedulerMetrics {
        val levels = RunQueue.LEVELS.indices.map { counts.ofLevel(it, queue.sizeOf(it), queue.headWait(it, now)) }
        return TaskSchedulerMetrics(maxConcurrency, awaitingCapacity.size, levels)
    }
}
