package baton.channels

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
    public fun exceptionOrNull(): Throwable? = (holder as? Closed)?.why

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
