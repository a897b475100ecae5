package baton.scheduler

import baton.Refusal

/**
 * The task was not started before its deadline. Its block was not called. This is not a `CancellationException`: a
 * coroutine that does not catch it fails.
 */
public class TaskDeadlineException(message: String) : IllegalStateException(message), Refusal
