package baton.resilience

import baton.Refusal
import java.time.Duration as JavaDuration
import kotlin.time.Duration
import kotlin.time.toJavaDuration

/**
 * A [CircuitBreaker] refused a call, which was not begun. It is not a `CancellationException`: a coroutine that does
 * not catch it fails. If [RetryPolicy.retryIf] accepts this exception, [retry] waits for at least [retryIn] of an open
 * breaker, provided that [RetryPolicy.maxRetryAfter] is not less; for a breaker that was tripped it does not wait. A
 * half-open breaker whose probes are under way may close at any moment: there [retry] waits as after any other failure.
 *
 * @property retryIn after this time another call may be let in, above 0. It is the rest of the time that the breaker is
 *   open; while all probes are out, the time after which the first of them loses its place, although it may come back
 *   before; and infinite for a breaker that was tripped.
 */
public class CircuitOpenException(message: String, public val retryIn: Duration) :
    IllegalStateException(message), Refusal {
    /** Whether the breaker is half open, so that a probe may close it before [retryIn] is over. */
    @get:JvmSynthetic @set:JvmSynthetic internal var mayCloseBefore: Boolean = false

    /** [retryIn] for Java. An infinite time is the longest that Java has. */
    override fun retryIn(): JavaDuration = retryIn.toJavaDuration()
}
