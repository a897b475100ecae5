package baton

import java.time.Duration
import java.util.concurrent.TimeoutException

/**
 * A permit, a lock, a place in a channel or a slot of a scheduler was not granted in time. The caller holds nothing. It
 * is not a `CancellationException`: a coroutine that does not catch it fails.
 *
 * ```
 * semaphore.withPermit(timeout = 100.milliseconds) { fetch(url) }
 * ```
 *
 * The timed calls of the Java API throw it, and the `with…` calls of the Kotlin API that have a timeout. The other
 * timed calls of the Kotlin API return false or null instead, and those of the blocking Java API whose names begin with
 * `try` return an empty result. Code that throws for these uses this type, so that breakers and retries see a refusal.
 *
 * @param retryIn what [Refusal.retryIn] returns; null, the default, if it is not known. Rate limiters name the time
 *   after which the permits are there.
 */
public class PermitTimeoutException @JvmOverloads constructor(message: String, private val retryIn: Duration? = null) :
    TimeoutException(message), Refusal {
    override fun retryIn(): Duration? = retryIn
}
