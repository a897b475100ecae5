package baton.resilience

import baton.Refusal
import java.time.Duration as JavaDuration
import kotlin.time.Duration
import kotlin.time.toJavaDuration

/**
 * A [RateLimiter] refused a request because as many callers wait as may wait. Nothing was taken. It is not a
 * `CancellationException`: a coroutine that does not catch it fails.
 *
 * @property retryIn the time after which the caller would have had the permits if it had been allowed to wait, above 0.
 */
public class RateLimitedException(message: String, public val retryIn: Duration) :
    IllegalStateException(message), Refusal {
    /** [retryIn] for Java. */
    override fun retryIn(): JavaDuration = retryIn.toJavaDuration()
}
