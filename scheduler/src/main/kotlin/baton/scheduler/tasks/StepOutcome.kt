package baton.scheduler.tasks

/**
 * The tasks that one step of [TaskCore] starts and admits, each kind in the order in which the step chose them. The
 * step collects them under the core's lock and takes them out before it releases the lock; the same thread then runs
 * [beginAll] and [admitAll] without the lock.
 */
internal class StepOutcome {
    private var firstStarted: TaskEntry? = null
    private var lastStarted: TaskEntry? = null
    private var firstAdmitted: TaskEntry? = null
    private var lastAdmitted: TaskEntry? = null

    fun addStarted(task: TaskEntry) {
        val last = lastStarted
        if (last == null) firstStarted = task else last.nextStarted = task
        lastStarted = task
    }

    fun addAdmitted(task: TaskEntry) {
        val last = lastAdmitted
        if (last == null) firstAdmitted = task else last.nextAdmitted = task
        lastAdmitted = task
    }

    /** The first started task, linked to the others by [TaskEntry.nextStarted]. */
    fun takeStarted(): TaskEntry? {
        val first = firstStarted
        firstStarted = null
        lastStarted = null
        return first
    }

    /** The first admitted task, linked to the others by [TaskEntry.nextAdmitted]. */
    fun takeAdmitted(): TaskEntry? {
        val first = firstAdmitted
        firstAdmitted = null
        lastAdmitted = null
        return first
    }

    companion object {
        fun admitAll(first: TaskEntry) {
            var task: TaskEntry? = first
            while (task != null) {
                val next = task.nextAdmitted
                task.nextAdmitted = null
                task.admit()
                task = next
            }
        }

        /**
         * Begins the tasks at once, at any stack depth: the caller may block its thread until one of them has ended.
         */
        fun beginAll(first: TaskEntry) {
            var task: TaskEntry? = first
            while (task != null) {
                val chosen: TaskEntry = task
                // Cleared, so that a task that is kept for its value does not keep the next one.
                task = chosen.nextStarted
                chosen.nextStarted = null
                chosen.beginInGroup()
            }
        }
    }
}
