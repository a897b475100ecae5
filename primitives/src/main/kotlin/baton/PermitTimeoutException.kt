package baton

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
 */
public class PermitTimeoutException(message: String) : TimeoutException(message), Refusal
