package baton.resilience

/**
 * The result of the last attempt of a [retry] was not accepted, and [RetryPolicy.failAfterLast] is true. The failures
 * before it are suppressed, as with every end of a retry.
 *
 * @property result the last result.
 */
public class ResultNotAcceptedException(message: String, public val result: Any?) : RuntimeException(message)
