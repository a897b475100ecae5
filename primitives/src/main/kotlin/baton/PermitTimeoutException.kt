package baton

import java.util.concurrent.TimeoutException

/**
 * A permit, a lock, a place in a channel or a slot of a scheduler was not granted in time. The caller holds nothing. It
 * is not a `CancellationException`: a coroutine that does not catch it fails.
 *
 * The Java API throws it. The timed calls of the Kotlin API return false instead, and code that throws for them uses
 * this type, so that breakers and retries see a refusal:
 * ```
 * if (!semaphore.tryAcquire(timeout = 100.milliseconds)) throw PermitTimeoutException("no permit of $semaphore")
 * ```
 */
public class PermitTimeoutException(message: String) : TimeoutException(message), Refusal
