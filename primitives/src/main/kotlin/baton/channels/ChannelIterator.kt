package baton.channels

/**
 * Goes through what a [Channel] receives: `for (element in channel) { … }`. Ends when the channel is closed and
 * drained, throws the cause if it was closed with one, and [ChannelClosedException] if it was cancelled. Several
 * iterations of one channel share its elements. One iterator is one caller's at a time.
 */
public class ChannelIterator<E> internal constructor(private val channel: Channel<E>) {
    private var next = ChannelResult.failed<E>()

    /** Whether there is one more element; waits for it. It is this iterator's then, see [Channel] on cancellation. */
    public suspend operator fun hasNext(): Boolean {
        if (next.isSuccess) return true
        next = channel.receiveCatching()
        val closed = next.exceptionOrNull() ?: return true
        channel.endOf(closed)?.let { throw it }
        return false
    }

    /**
     * The element that [hasNext] has found.
     *
     * @throws IllegalStateException if it was not asked, or has found none.
     */
    public operator fun next(): E {
        check(next.isSuccess) { "next() without hasNext() before it that answered true" }
        return next.getOrThrow().also { next = ChannelResult.failed() }
    }
}
