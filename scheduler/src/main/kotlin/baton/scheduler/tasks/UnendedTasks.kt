package baton.scheduler.tasks

import baton.sync.Latch
import baton.waiting.LinkedEntries

/**
 * The tasks of a [TaskCore] that have been QUEUED or AWAITING_CAPACITY and are not [over][TaskEntry.isOver], and the
 * latch of the callers that wait until there are none. Guarded by the lock of the core. The [TaskTable] extends this,
 * so that an idle scheduler has one object less.
 */
internal abstract class UnendedTasks {
    private var size = 0

    /** The ended ones: their slots are free, and other threads are about to complete them. Null before the first. */
    private var ending: LinkedEntries<TaskEntry>? = null

    /** Opens when there are none; null if no caller waits for that. */
    private var idle: Latch? = null

    val isEmpty: Boolean
        get() = size == 0

    fun add(task: TaskEntry) {
        task.isCounted = true
        size++
    }

    /** [task] has ended. It stays here until it is over. */
    fun end(task: TaskEntry) {
        if (!task.isCounted) return
        if (task.isOver) return remove(task)
        if (task.isEnding) return
        task.isEnding = true
        (ending ?: LinkedEntries<TaskEntry>().also { ending = it }).add(task)
    }

    private fun remove(task: TaskEntry) {
        if (task.isEnding) ending?.remove(task)
        task.isEnding = false
        task.isCounted = false
        size--
    }

    /**
     * Removes the tasks that are over. A thread that completes a future may run dependents of it before it reports the
     * completion; those must not wait for that thread.
     */
    fun look() {
        ending?.forEach(::end)
    }

    /** A latch that opens once there are none; null if there are none now. */
    fun idle(): Latch? = if (isEmpty) null else idle ?: Latch(1).also { idle = it }

    /** The latch, to be opened without the lock, if there are none now. */
    fun takeIdle(): Latch? = if (isEmpty) idle?.also { idle = null } else null
}
