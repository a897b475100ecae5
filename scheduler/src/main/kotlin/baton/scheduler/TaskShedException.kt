package baton.scheduler

/**
 * This task was queued, and a more urgent one has displaced it, see [OnFullQueue.DROP_LOWEST]. Its block was not
 * called.
 */
public class TaskShedException(message: String) : TaskRejectedException(message)
