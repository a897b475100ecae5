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
 * Later versions may add members, so implement it by delegation alone, and compile that class with the version it runs
 * with. One class may delegate both sides of a channel:
 * ```
 * class LoggedChannel<E>(private val inner: Channel<E>) : SendChannel<E> by inner, ReceiveChannel<E> by inner {
 *     override suspend fun receiveCatching() = inner.receiveCatching().onSuccess { log("received $it") }
 *
 *     override fun iterator() = ChannelIterator(this)
 * }
 * ```
 *
 * Such a decorator sees the calls of the members that it overrides: each way to receive is one of its own. Iterations,
 * flows, [consumeEach] and [toList] use [iterator], which uses [receiveCatching] of the channel that it was made for,
 * as [receiveOrNull] does. The decorator does not see what a `select` receives. All members may be called from any
 * thread.
 */
public interface ReceiveChannel<out E> {
    /** How many elements can be received now; the elements of waiting senders are not included. */
    public val size: Int

    /**
     * Whether nothing can be received any more: the channel is closed, and all its elements have reached their
     * receivers, or it was cancelled.
     */
    public val isClosedForReceive: Boolean

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
     * Receives up to [limit] elements: waits for the first one, and adds those that are there when it has come. It
     * takes as many as it can in one step, and costs O(elements). An empty list is the end, after which there will be
     * no more; the end is that of an iteration, see [ChannelIterator].
     *
     * ```
     * do {
     *     val rows = channel.receiveUpTo(500)
     *     table.insert(rows)
     * } while (rows.isNotEmpty())
     * ```
     *
     * *Order.* Other receivers that wait get their elements first: the list then ends before those. What they receive
     * while this call resumes is missing in the list, which is in order otherwise.
     *
     * *Cancellation.* As [receive]: throws and has received nothing. Once it has its first element it returns all.
     *
     * @throws IllegalArgumentException if [limit] is below 1.
     */
    public suspend fun receiveUpTo(limit: Int): List<E>

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
