package baton

import java.util.concurrent.TimeoutException

/**
 * A permit, a lock, a place in a channel or a slot of a scheduler was not granted in time. The caller holds nothing. It
 * is not a `CancellationException`: a coroutine that does not catch it fails.
 */
public class PermitTimeoutException(message: String) : TimeoutException(message), Refusal
