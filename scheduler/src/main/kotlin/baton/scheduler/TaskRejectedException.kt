package baton.scheduler

/** The queue of a [TaskScheduler] had no room for this task, see [OnFullQueue]. Its block was not called. */
public open class TaskRejectedException(message: String) : IllegalStateException(message)
