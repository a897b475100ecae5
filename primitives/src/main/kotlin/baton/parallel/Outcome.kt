package baton.parallel

/**
 * How one element of [mapSettled] ended.
 *
 * ```
 * for (outcome in outcomes)
 *     when (outcome) {
 *         is Outcome.Success -> show(outcome.value)
 *         is Outcome.Failure -> log(outcome.cause)
 *         is Outcome.Cancelled -> log(outcome.cause)
 *         Outcome.NotStarted -> {}
 *     }
 * ```
 *
 * An outcome is immutable, except for a mutable [Success.value]. All members may be called from any thread.
 */
public sealed interface Outcome<out T> {
    /** The transform returned [value]. */
    public class Success<out T>(public val value: T) : Outcome<T> {
        override fun equals(other: Any?): Boolean = other is Success<*> && value == other.value

        override fun hashCode(): Int = value.hashCode()

        override fun toString(): String = "Success(value=$value)"
    }

    /** The transform threw [cause], an [Error] included. */
    public class Failure(public val cause: Throwable) : Outcome<Nothing> {
        override fun equals(other: Any?): Boolean = other is Failure && cause == other.cause

        override fun hashCode(): Int = cause.hashCode()

        override fun toString(): String = "Failure(cause=$cause)"
    }

    /**
     * The transform threw [cause], a CancellationException of its own, while the caller was active: its `withTimeout`
     * was over, say, or it awaited a task that was cancelled.
     */
    public class Cancelled(public val cause: Throwable) : Outcome<Nothing> {
        override fun equals(other: Any?): Boolean = other is Cancelled && cause == other.cause

        override fun hashCode(): Int = cause.hashCode()

        override fun toString(): String = "Cancelled(cause=$cause)"
    }

    /** The transform was not called for this element, because enough others had failed. */
    public data object NotStarted : Outcome<Nothing>
}

/** The value of a success; else null. */
public fun <T> Outcome<T>.getOrNull(): T? = if (this is Outcome.Success) value else null

/**
 * The value of a success.
 *
 * @throws Throwable the cause of a failure or a cancellation, itself and not a copy.
 * @throws IllegalStateException if the element was not started.
 */
public fun <T> Outcome<T>.getOrThrow(): T =
    when (this) {
        is Outcome.Success -> value
        is Outcome.Failure -> throw cause
        is Outcome.Cancelled -> throw cause
        Outcome.NotStarted -> throw IllegalStateException("no value: the element was not started")
    }
