package baton.resilience

import java.util.concurrent.TimeoutException

/**
 * An attempt was not done within [RetryPolicy.attemptTimeout] of a [retry], or within that of a [ResiliencePipeline].
 */
public class AttemptTimeoutException(message: String) : TimeoutException(message)
