package baton.scheduler

/** The policy for an entry that is due while its last run has not ended, or has not begun for want of a free place. */
public enum class Overlap {
    /** There is no run for this due time. [ScheduleMetrics.skipped] counts it. */
    SKIP,

    /** One run waits for the end of the last one. Further due times until then are skipped. */
    QUEUE_ONE,

    /** The runs overlap. Nothing bounds the runs that wait for a place if they take longer than the period. */
    ALLOW,
}
