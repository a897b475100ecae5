package baton.scheduler.tasks

/** A linked list of tasks; any of them can be removed in O(1). Guarded by the lock of its core. */
internal class TaskList {
    var first: TaskEntry? = null
        private set

    var last: TaskEntry? = null
        private set

    var size = 0
        private set

    fun add(task: TaskEntry) {
        val before = last
        task.previous = before
        if (before == null) first = task else before.next = task
        last = task
        size++
    }

    fun remove(task: TaskEntry) {
        val before = task.previous
        val after = task.next
        if (before == null) first = after else before.next = after
        if (after == null) last = before else after.previous = before
        task.previous = null
        task.next = null
        size--
    }

    inline fun forEach(action: (TaskEntry) -> Unit) {
        var task = first
        while (task != null) {
            val now: TaskEntry = task
            task = now.next
            action(now)
        }
    }
}
