package baton.sync

import baton.Refusal

/**
 * The [Semaphore] was closed before the request, or while it waited. The caller holds nothing. The [cause] is the one
 * given to `close`. It is not a `CancellationException`: a coroutine that does not catch it fails.
 */
public class SemaphoreClosedException(message: String, cause: Throwable? = null) :
    IllegalStateException(message, cause), Refusal
