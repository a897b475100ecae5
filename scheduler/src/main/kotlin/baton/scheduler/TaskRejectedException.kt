package baton.scheduler

import baton.Refusal

/** The queue of the [TaskScheduler] was full when this task came, see [OnFullQueue]. Its block was not called. */
public open class TaskRejectedException(message: String) : IllegalStateException(message), Refusal
