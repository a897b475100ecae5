package baton.scheduler

/** How a run of a [Schedule] has ended. */
public enum class RunOutcome {
    /** The action has returned. */
    SUCCEEDED,

    /** The action has thrown, or the executor has rejected the run. */
    FAILED,

    /** The run took longer than [ScheduleConfig.runTimeout]. */
    TIMED_OUT,

    /** By [Schedule.cancelRun]. */
    CANCELLED,
}
