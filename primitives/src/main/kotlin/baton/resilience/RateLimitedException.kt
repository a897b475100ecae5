package baton.resilience

import kotlin.time.Duration

/**
 * A [RateLimiter] refused a request because as many callers wait as may wait. Nothing was taken. It is not a
 * `CancellationException`: a coroutine that does not catch it fails.
 *
 * @property retryIn after this time the permits would be there for the caller if it had been allowed to wait, above 0.
 */
public class RateLimitedException(message: String, public val retryIn: Duration) : IllegalStateException(message)
