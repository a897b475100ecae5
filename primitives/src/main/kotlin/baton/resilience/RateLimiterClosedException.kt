package baton.resilience

import baton.Refusal

/**
 * The [RateLimiter] was closed before the request, or while it waited. Nothing was taken. The [cause] is the one given
 * to `close`. It is not a `CancellationException`: a coroutine that does not catch it fails.
 */
public class RateLimiterClosedException(message: String, cause: Throwable? = null) :
    IllegalStateException(message, cause), Refusal
