package baton.scheduler

/** How a run of a [Schedule] has ended. */
public enum class RunOutcome {
    /** The action has returned. */
    SUCCEEDED,

    /** The action has thrown. A run that the executor rejects is offered again, and has no outcome by that. */
    FAILED,

    /** The run took longer than [ScheduleConfig.runTimeout]. */
    TIMED_OUT,

    /** By [Schedule.cancelRun]. */
    CANCELLED,
}
