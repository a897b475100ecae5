package baton.scheduler

/**
 * This task had a place in the queue and lost it to a more urgent one, see [OnFullQueue.DROP_LOWEST]. Its block was not
 * called.
 */
public class TaskShedException(message: String) : TaskRejectedException(message)
