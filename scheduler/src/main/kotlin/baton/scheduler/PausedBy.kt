package baton.scheduler

/** Why an entry of a [Schedule] does not fire. [Schedule.resume] ends each of them. */
public enum class PausedBy {
    /** [Schedule.pause]. */
    USER,

    /** Its trigger has thrown, or is unknown: see [Schedule.failedTriggers]. The next start tries it again. */
    FAILED_TRIGGER,

    /** The run of an entry that is due once has failed for good. */
    FAILED_RUN,
}
