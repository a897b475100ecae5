package baton.sync

/**
 * The [Barrier] is broken, or was reset while the caller waited: not all parties arrived. The [cause] is the exception
 * of the action, or of the party that was cancelled or timed out, or the one given to `abort`; null after a `reset`. It
 * is not a `CancellationException`: a coroutine that does not catch it fails.
 */
public class BarrierBrokenException(message: String, cause: Throwable? = null) : IllegalStateException(message, cause)
