package baton.channels

/**
 * The [Channel] was closed or cancelled: no more elements can be sent, or none is left to receive. The [cause] is the
 * one given to `close` or `cancel`. It is not a `CancellationException`: a coroutine that does not catch it fails.
 */
public class ChannelClosedException(message: String, cause: Throwable? = null) : IllegalStateException(message, cause)
