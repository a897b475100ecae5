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
    public fun getOrThrow(): T = if (isSuccess) element() else throw exceptionOrNull() ?: IllegalStateException("$this")

    /** The [ChannelClosedException] if the channel is closed, else null. */
    public fun exceptionOrNull(): ChannelClosedException? = (holder as? Closed)?.why

    @Suppress("UNCHECKED_CAST") // Only success() creates one.
    private fun element() = holder as T

    override fun toString(): String =
        when (holder) {
            is Closed -> "Closed(${holder.why.message})"
            is Failure -> "Failed"
            else -> "Success($holder)"
        }

    private open class Failure

    private class Closed(val why: ChannelClosedException) : Failure() {
        override fun equals(other: Any?): Boolean = other is Closed && why === other.why

        override fun hashCode(): Int = why.hashCode()
    }

    internal companion object {
        private val FAILED = Failure()

        fun <T> success(element: T): ChannelResult<T> = ChannelResult(element)

        fun <T> failed(): ChannelResult<T> = ChannelResult(FAILED)

        fun <T> closed(why: ChannelClosedException): ChannelResult<T> = ChannelResult(Closed(why))
    }
}

/** Calls [action] with the element if the attempt succeeded. Returns this result. */
@OptIn(ExperimentalContracts::class)
public inline fun <T> ChannelResult<T>.onSuccess(action: (element: T) -> Unit): ChannelResult<T> {
    contract { callsInPlace(action, InvocationKind.AT_MOST_ONCE) }
    if (isSuccess) action(getOrThrow())
    return this
}

/**
 * Calls [action] if the attempt failed, with the exception if the channel is closed, else with null: it would have had
 * to wait. Returns this result.
 */
@OptIn(ExperimentalContracts::class)
public inline fun <T> ChannelResult<T>.onFailure(action: (why: ChannelClosedException?) -> Unit): ChannelResult<T> {
    contract { callsInPlace(action, InvocationKind.AT_MOST_ONCE) }
    if (isFailure) action(exceptionOrNull())
    return this
}

/** Calls [action] if the channel is closed, with an exception whose cause is that of the close. Returns this result. */
@OptIn(ExperimentalContracts::class)
public inline fun <T> ChannelResult<T>.onClosed(action: (why: ChannelClosedException) -> Unit): ChannelResult<T> {
    contract { callsInPlace(action, InvocationKind.AT_MOST_ONCE) }
    exceptionOrNull()?.let { action(it) }
    return this
}

/** Returns the element, or the result of [onFailure], which gets the exception if the channel is closed, else null. */
@OptIn(ExperimentalContracts::class)
public inline fun <T> ChannelResult<T>.getOrElse(onFailure: (why: ChannelClosedException?) -> T): T {
    contract { callsInPlace(onFailure, InvocationKind.AT_MOST_ONCE) }
    return if (isSuccess) getOrThrow() else onFailure(exceptionOrNull())
}
