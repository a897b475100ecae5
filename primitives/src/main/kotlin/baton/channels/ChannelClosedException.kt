package baton.channels

/**
 * The [Channel] was closed or cancelled: nothing can be sent any more, or nothing is left to be received. Its [cause]
 * is what was given to `close` or `cancel`. It is no `CancellationException`: a coroutine that does not catch it fails.
 */
public class ChannelClosedException(message: String, cause: Throwable? = null) : IllegalStateException(message, cause)
