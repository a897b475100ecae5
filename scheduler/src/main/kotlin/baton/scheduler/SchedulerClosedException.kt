package baton.scheduler

/**
 * The [TaskScheduler] takes no tasks any more: [TaskScheduler.close] was called before the task was scheduled or before
 * it was its turn, or [TaskScheduler.drain] before it was scheduled. Its block was not called. Its [cause] is what was
 * given to `close`. It is no `CancellationException`: a coroutine that does not catch it fails.
 */
public class SchedulerClosedException(message: String, cause: Throwable? = null) : IllegalStateException(message, cause)
