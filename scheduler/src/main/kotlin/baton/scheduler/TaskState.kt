package baton.scheduler

/** How far a [ScheduledTask] has come. */
public enum class TaskState {
    /** It waits for its turn, or for room in the queue. */
    QUEUED,

    /** It takes one of the scheduler's places, suspended or not. */
    RUNNING,

    /** It has ended: with a value, failed, or cancelled. */
    DONE,
}
