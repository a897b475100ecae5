package baton.scheduler.tasks

import java.util.concurrent.atomic.AtomicReference

/**
 * Where tasks are left while nothing can be started, so that whoever brings one need not wait for the core's lock: a
 * stack, the last on top. Tasks are added by anybody, without the lock, and taken out under it.
 */
internal class SubmissionStack {
    private val top = AtomicReference<TaskEntry?>()

    /**
     * Whether tasks may be left here. Written under the core's lock. Who leaves one looks again afterwards, and who
     * closes this looks for tasks afterwards: one of the two sees the other.
     */
    @Volatile
    var isOpen = false

    val isEmpty: Boolean get() = top.get() == null

    fun add(task: TaskEntry) {
        while (true) {
            val below = top.get()
            task.next = below
            if (top.compareAndSet(below, task)) return
        }
    }

    /** Takes out all of them: the first that came, linked to the others in the order of their coming. */
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
