package baton.channels

/**
 * Iterates over the elements received from a [Channel]: `for (element in channel) { … }`. It ends when the channel is
 * closed and drained, or cancelled, and throws the cause if that was done with one. A cause that is a
 * `CancellationException` comes in a [ChannelClosedException]: thrown itself, it would silently end a coroutine that
 * was not cancelled. Several iterations of one channel share its elements. An iterator must not be used by several
 * callers at a time.
 *
 * @param channel the one whose [ReceiveChannel.receiveCatching] gives the elements.
 */
public class ChannelIterator<out E>(private val channel: ReceiveChannel<E>) {
    private var next = ChannelResult.failed<E>()

    /**
     * Waits for the next element and returns whether there is one. That is then received, see [Channel] on
     * cancellation.
     */
    public suspend operator fun hasNext(): Boolean {
        if (next.isSuccess) return true
        next = channel.receiveCatching()
        val closed = next.closedException ?: return true
        endOf(closed)?.let { throw it }
        return false
    }

    /**
     * Returns the element that [hasNext] has received.
     *
     * @throws ChannelClosedException if [hasNext] returned false.
     * @throws IllegalStateException if [hasNext] was not called before.
     */
    public operator fun next(): E {
        check(next.isSuccess || next.isClosed) { "next() without hasNext() before it" }
        return next.getOrThrow().also { next = ChannelResult.failed() }
    }
}
