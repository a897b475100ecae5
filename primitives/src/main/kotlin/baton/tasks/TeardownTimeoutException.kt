package baton.tasks

import java.util.concurrent.TimeoutException

/** A teardown of a [CancellableTask] was cut short because the time for all its teardowns was over. */
public class TeardownTimeoutException(message: String) : TimeoutException(message)
