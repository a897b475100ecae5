package baton.scheduler

/**
 * Another schedule is the owner of the store: [Schedule.run] throws this if it finds a fresh owner, and when its own
 * ownership was taken over.
 *
 * @property owner that other one, as it has named itself: its schedule, process and host.
 */
public class ScheduleOwnedException(message: String, public val owner: String) : IllegalStateException(message)
