package baton.scheduler

import java.util.concurrent.TimeoutException

/**
 * A task of a [TaskScheduler] has not ended within its timeout, or a run of a [Schedule] took longer than
 * [ScheduleConfig.runTimeout]. This is not a `CancellationException`: a coroutine that does not catch it fails.
 */
public class TaskTimeoutException(message: String) : TimeoutException(message)
