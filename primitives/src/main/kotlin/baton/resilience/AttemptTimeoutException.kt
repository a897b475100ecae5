package baton.resilience

import java.util.concurrent.TimeoutException

/** An attempt of a [retry] was not done within [RetryPolicy.attemptTimeout]. */
public class AttemptTimeoutException(message: String) : TimeoutException(message)
