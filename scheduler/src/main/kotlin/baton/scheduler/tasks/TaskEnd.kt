package baton.scheduler.tasks

/** How a task can end. A task that was started ends in one of the first three ways. */
internal enum class TaskEnd {
    DONE,
    FAILED,
    CANCELLED,

    /** Cancelled before it was started. */
    WITHDRAWN,
    REJECTED,
    SHED,
    EXPIRED,
    CLOSED,
}
