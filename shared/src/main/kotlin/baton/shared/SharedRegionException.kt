package baton.shared

/**
 * A [SharedRegion] cannot be used: it was refused when it was opened, it is closed, or its file was removed or cut. The
 * message names the file and the reason. It is not a `CancellationException`: a coroutine that does not catch it fails.
 */
public class SharedRegionException(message: String, cause: Throwable? = null) : IllegalStateException(message, cause)
