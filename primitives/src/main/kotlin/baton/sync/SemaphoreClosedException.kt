package baton.sync

/**
 * The [Semaphore] was closed: before the request, or while it waited. Nothing is held. Its [cause] is what was given to
 * `close`. It is no `CancellationException`: a coroutine that does not catch it fails.
 */
public class SemaphoreClosedException(message: String, cause: Throwable? = null) : IllegalStateException(message, cause)
