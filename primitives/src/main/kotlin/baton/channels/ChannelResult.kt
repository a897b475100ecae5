package baton.channels

/**
 * What an attempt to send or to receive came to: it succeeded, or failed because that would have had to wait, or failed
 * because the [Channel] is closed.
 */
@JvmInline
public value class ChannelResult<out T> private constructor(private val holder: Any?) {
    /** It was sent, or an element was received. */
    public val isSuccess: Boolean get() = holder !is Failure

    /** It was not; [isClosed] says whether that is for ever. */
    public val isFailure: Boolean get() = holder is Failure

    /** It failed because the channel is closed; as a receiver: closed and drained. */
    public val isClosed: Boolean get() = holder is Closed

    /** The element, or null if there is none; that also is an element that was null. */
    public fun getOrNull(): T? = if (isSuccess) element() else null

    /**
     * The element.
     *
     * @throws ChannelClosedException if the channel is closed.
     * @throws IllegalStateException if it failed otherwise.
     */
    public fun getOrThrow(): T = if (isSuccess) element() else throw exceptionOrNull() ?: IllegalStateException("$this")

    /** Why the channel is closed, a [ChannelClosedException]; null if it is not. */
    public fun exceptionOrNull(): Throwable? = (holder as? Closed)?.why

    @Suppress("UNCHECKED_CAST") // made by success() alone
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
