package baton.channels

import kotlin.time.Duration
import kotlinx.coroutines.selects.SelectClause1

/**
 * The receiving side of a [Channel], for the parameters and properties of code that only receives. The class [Channel]
 * says how elements are ordered, and what cancellation and the end of a channel mean.
 *
 * ```
 * suspend fun sum(numbers: ReceiveChannel<Int>): Int {
 *     var sum = 0
 *     for (number in numbers) sum += number
 *     return sum
 * }
 * ```
 *
 * Only Baton implements it: later versions may add members. All members may be called from any thread.
 */
public interface ReceiveChannel<out E> {
    /** How many elements can be received now; the elements of waiting senders are not included. */
    public val size: Int

    /**
     * Whether no more elements can be sent. There may still be elements to receive: [receiveCatching] says when there
     * are none.
     */
    public val isClosed: Boolean

    /**
     * Receives the next element.
     *
     * *Cancellation.* Throws and has received nothing.
     *
     * @throws ChannelClosedException if the channel is closed and drained, before the call or while the caller waits.
     */
    public suspend fun receive(): E

    /** As [receive], but returns a result that also says whether the channel is closed and drained. */
    public suspend fun receiveCatching(): ChannelResult<E>

    /**
     * Receives an element if there is one now, in the buffer or of a waiting sender, and no other receiver waits. An
     * element that a `select` or a reservation will send does not count yet.
     */
    public fun tryReceive(): ChannelResult<E>

    /**
     * Receives the next element, waiting [timeout] at most, in the clock of the caller's dispatcher. If the result is a
     * failure the caller received nothing, even if the grant raced with the timeout. With zero or less it does not
     * wait.
     *
     * *Cancellation.* As [receive].
     */
    public suspend fun tryReceive(timeout: Duration): ChannelResult<E>

    /** Iterates over received elements until the channel is closed and drained; see [ChannelIterator] for the end. */
    public operator fun iterator(): ChannelIterator<E>

    /**
     * Receives within kotlinx.coroutines' `select`. A clause that loses receives nothing: a sender asks the select
     * before it hands over its element. If the select is cancelled before it runs, the element of its winning clause
     * goes to the next receiver, or back to the head of the channel. The select throws the exceptions of [receive].
     */
    public val onReceive: SelectClause1<E>

    /** As [onReceive], but the block gets a result that also says whether the channel is closed and drained. */
    public val onReceiveCatching: SelectClause1<ChannelResult<E>>

    /**
     * Closes the channel for sending and receiving, and drops the buffered elements. All waiting and all later calls of
     * [receive] and [SendChannel.send] throw a [ChannelClosedException]. Iterations, [asFlow] and [receiveOrNull] end
     * normally; with a [cause], iterations and flows throw it, as after [SendChannel.close] with a cause. A channel
     * that was closed before keeps the cause of that close, or its having none. No coroutine is cancelled, except the
     * producer of a channel made by [produce].
     */
    public fun cancel(cause: Throwable? = null)
}

/**
 * Receives the next element, or null if the channel is closed and drained. Otherwise as [ReceiveChannel.receive]; the
 * cause of a close is not reported.
 */
public suspend fun <E : Any> ReceiveChannel<E>.receiveOrNull(): E? = receiveCatching().getOrNull()
