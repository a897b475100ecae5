package baton.scheduler.tasks

/** How a task can end; the first three after it was started. */
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
