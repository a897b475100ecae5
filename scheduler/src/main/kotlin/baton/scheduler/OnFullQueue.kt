package baton.scheduler

/**
 * What a [TaskScheduler] does with a task for which its queue has no room: as many tasks are queued as its capacity
 * says. Nothing is ever dropped silently: the task concerned fails, and the metrics count it.
 */
public enum class OnFullQueue {
    /**
     * [TaskScheduler.submit] and [TaskScheduler.run] wait for room, first come, first served whatever their level. A
     * task of [TaskScheduler.schedule], which cannot wait, fails with [TaskRejectedException].
     */
    SUSPEND,

    /** The newcomer fails with [TaskRejectedException]. */
    REJECT,

    /**
     * The youngest task of the least urgent level makes room, if that is below the newcomer's: it fails with
     * [TaskShedException]. If there is none, the newcomer fails with [TaskRejectedException].
     */
    DROP_LOWEST,
}
