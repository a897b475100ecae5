package baton.channels

import kotlin.contracts.ExperimentalContracts
import kotlin.contracts.InvocationKind
import kotlin.contracts.contract

/**
 * The result of an attempt to send or to receive: it succeeded, or failed because it would have had to wait, or failed
 * because the [Channel] is closed.
 *
 * ```
 * val result = channel.tryReceive()
 * if (result.isSuccess) handle(result.getOrThrow())
 * ```
 */
@JvmInline
public value class ChannelResult<out T> private constructor(private val holder: Any?) {
    /** Whether the element was sent, or an element was received. */
    public val isSuccess: Boolean
        get() = holder !is Failure

    /** Whether the attempt failed; [isClosed] says whether every later attempt will fail too. */
    public val isFailure: Boolean
        get() = holder is Failure

    /** Whether it failed because the channel is closed; for a receiver: closed and drained. */
    public val isClosed: Boolean
        get() = holder is Closed

    /** The element, or null if there is none. An element may be null itself. */
    public fun getOrNull(): T? = if (isSuccess) element() else null

    /**
     * The element.
     *
     * @throws ChannelClosedException if the channel is closed.
     * @throws IllegalStateException if the attempt failed otherwise.
     */
    public fun getOrThrow(): T = if (isSuccess) element() else throw closedException ?: IllegalStateException("$this")

    /**
     * The cause with which the channel was closed. If it has none: null for an attempt to receive, which has met the
     * end; a [ChannelClosedException] for one to send. Null, too, if the channel is not closed, see [isClosed].
     */
    public fun exceptionOrNull(): Throwable? = (holder as? Closed)?.cause

    @get:JvmSynthetic
    internal val closedException: ChannelClosedException?
        get() = (holder as? Closed)?.why

    @Suppress("UNCHECKED_CAST") // Only success() creates one.
    private fun element() = holder as T

    override fun toString(): String =
        when (holder) {
            is Closed -> "Closed(${holder.why.message})"
            is Failure -> "Failed"
            else -> "Success($holder)"
        }

    private open class Failure

    private class Closed(val why: ChannelClosedException, val cause: Throwable?) : Failure() {
        override fun equals(other: Any?): Boolean = other is Closed && cause == other.cause

        override fun hashCode(): Int = cause.hashCode()
    }

    internal companion object {
        private val FAILED = Failure()

        fun <T> success(element: T): ChannelResult<T> = ChannelResult(element)

        fun <T> failed(): ChannelResult<T> = ChannelResult(FAILED)

        fun <T> closed(why: ChannelClosedException): ChannelResult<T> = ChannelResult(Closed(why, why.cause))

        /** The result of an attempt to send to a closed channel. */
        fun refused(why: ChannelClosedException): ChannelResult<Unit> = ChannelResult(Closed(why, why.cause ?: why))
    }
}

/** Calls [action] with the element if the attempt succeeded. Returns this result. */
@OptIn(ExperimentalContracts::class)
public inline fun <T> ChannelResult<T>.onSuccess(action: (element: T) -> Unit): ChannelResult<T> {
    contract { callsInPlace(action, InvocationKind.AT_MOST_ONCE) }
    if (isSuccess) action(getOrThrow())
    return this
}

/** Calls [action] if the attempt failed, with what [ChannelResult.exceptionOrNull] returns. Returns this result. */
@OptIn(ExperimentalContracts::class)
public inline fun <T> ChannelResult<T>.onFailure(action: (cause: Throwable?) -> Unit): ChannelResult<T> {
    contract { callsInPlace(action, InvocationKind.AT_MOST_ONCE) }
    if (isFailure) action(exceptionOrNull())
    return this
}

/** Calls [action] if the channel is closed, with what [ChannelResult.exceptionOrNull] returns. Returns this result. */
@OptIn(ExperimentalContracts::class)
public inline fun <T> ChannelResult<T>.onClosed(action: (cause: Throwable?) -> Unit): ChannelResult<T> {
    contract { callsInPlace(action, InvocationKind.AT_MOST_ONCE) }
    if (isClosed) action(exceptionOrNull())
    return this
}

/** Returns the element, or the result of [onFailure], which gets what [ChannelResult.exceptionOrNull] returns. */
@OptIn(ExperimentalContracts::class)
public inline fun <T> ChannelResult<T>.getOrElse(onFailure: (cause: Throwable?) -> T): T {
    contract { callsInPlace(onFailure, InvocationKind.AT_MOST_ONCE) }
    return if (isSuccess) getOrThrow() else onFailure(exceptionOrNull())
}
