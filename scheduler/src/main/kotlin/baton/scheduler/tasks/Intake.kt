package baton.scheduler.tasks

/** Whether a scheduler accepts new tasks. In the order in which it goes through them. */
internal enum class Intake {
    OPEN,
    DRAINING,
    CLOSED,
}
