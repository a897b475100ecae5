package baton.scheduler.tasks

import java.util.concurrent.atomic.AtomicReference

/**
 * A lock-free stack of tasks that are submitted while none can be started, so that submitting threads need not wait for
 * the core's lock. Any thread adds tasks, without the lock; they are taken out under it.
 */
internal class SubmissionStack {
    private val top = AtomicReference<TaskEntry?>()

    /**
     * Whether tasks may be added. Written under the core's lock. A thread that adds a task reads this again afterwards,
     * and the thread that closes this looks for tasks afterwards: at least one of the two sees the other's write.
     */
    @Volatile var isOpen = false

    val isEmpty: Boolean
        get() = top.get() == null

    fun add(task: TaskEntry) {
        while (true) {
            val below = top.get()
            task.next = below
            if (top.compareAndSet(below, task)) return
        }
    }

    /** Takes out all tasks. Returns the one that was added first, linked to the others in the order of arrival. */
    fun takeAll(): TaskEntry? {
        var first: TaskEntry? = null
        var task = top.getAndSet(null)
        while (task != null) {
            val below = task.next
            task.next = first
            first = task
            task = below
        }
        return first
    }
}
