package baton.sync

/**
 * The [Barrier] is broken, or was reset while the caller waited: not all parties have come together. Its [cause] is
 * what broke it: what the action threw, or why a party was cancelled or went away; none after a `reset`. It is no
 * `CancellationException`: a coroutine that does not catch it fails.
 */
public class BarrierBrokenException(message: String, cause: Throwable? = null) : IllegalStateException(message, cause)
