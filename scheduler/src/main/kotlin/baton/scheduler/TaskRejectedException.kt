package baton.scheduler

/** The queue of a [TaskScheduler] had no room for this task, see [WhenFull]. Its block was not called. */
public open class TaskRejectedException(message: String) : IllegalStateException(message)
