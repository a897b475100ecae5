package baton.scheduler

import baton.Refusal

/**
 * The [TaskScheduler] was closed: [TaskScheduler.close] was called before the task was scheduled or before it was
 * started, or [TaskScheduler.drain] before it was scheduled. The task's block was not called. The [cause] is the one
 * passed to `close`. This is not a `CancellationException`: a coroutine that does not catch it fails.
 */
public class SchedulerClosedException(message: String, cause: Throwable? = null) :
    IllegalStateException(message, cause), Refusal
