package baton.scheduler

/**
 * How a [TaskScheduler] handles a new task while its queue is full, that is, while as many tasks are queued as its
 * capacity allows. A task that it drops always fails, and the metrics count it.
 */
public enum class OnFullQueue {
    /**
     * [TaskScheduler.submit] and [TaskScheduler.run] wait until there is capacity, first come, first served, whatever
     * their level. A task of [TaskScheduler.schedule], which cannot wait, fails with [TaskRejectedException].
     */
    SUSPEND,

    /** The new task fails with [TaskRejectedException]. */
    REJECT,

    /**
     * The task at the tail of the least urgent level fails with [TaskShedException], if that level is below the new
     * task's. If there is no such task, the new task fails with [TaskRejectedException].
     */
    DROP_LOWEST,
}
