package baton.scheduler

/** The state of a [ScheduledTask]. */
public enum class TaskState {
    /** It waits to be started, or for capacity in the queue. */
    QUEUED,

    /** It occupies one of the scheduler's slots, suspended or not. */
    RUNNING,

    /** It has ended: with a value, by a failure, or by cancellation. */
    DONE,
}
