package baton.channels

import baton.Priority
import kotlin.time.Duration
import kotlinx.coroutines.DisposableHandle
import kotlinx.coroutines.selects.SelectClause2

/**
 * The sending side of a [Channel], for the parameters and properties of code that only sends. The class [Channel] says
 * how elements are ordered, and what cancellation and the end of a channel mean.
 *
 * ```
 * suspend fun produceNumbers(target: SendChannel<Int>) {
 *     for (number in 1..10) target.send(number)
 *     target.close()
 * }
 * ```
 *
 * Later versions may add members, so implement it by delegation alone, `SendChannel<E> by channel`, and compile that
 * class with the version it runs with. Such a decorator sees the calls of the members that it overrides: each way to
 * send is one of its own. It does not see what is sent by a [Reservation], or by [onSend], whose block gets the inner
 * channel. All members may be called from any thread.
 */
public interface SendChannel<in E> {
    /** The number of elements that the buffer has places for. */
    public val capacity: Int

    /**
     * How many places of the buffer are free and not reserved, at least 0; 0 if the [capacity] is 0, also while a
     * receiver waits. Whether the channel is closed makes no difference.
     */
    public val remainingCapacity: Int

    /** Whether no more elements can be sent. There may still be elements to receive. */
    public val isClosedForSend: Boolean

    /**
     * Sends [element], waiting for a place if necessary and the channel's [OnFull] says so. Under
     * [ChannelOrder.PRIORITY] it is sent at the level of the coroutine's context, else NORMAL.
     *
     * *Cancellation.* Throws if and only if the element was not taken.
     *
     * @throws ChannelClosedException if the channel is closed, before the call or while the caller waits; the element
     *   was not taken.
     */
    public suspend fun send(element: E)

    /** As [send] without a [priority]; under [ChannelOrder.PRIORITY] it is sent at that level, if there is one. */
    public suspend fun send(element: E, priority: Priority?)

    /** Sends [element] if that needs no waiting; under [ChannelOrder.PRIORITY] at the level NORMAL. */
    public fun trySend(element: E): ChannelResult<Unit>

    /** As [trySend] without a [priority]; under [ChannelOrder.PRIORITY] it is sent at that level, if there is one. */
    public fun trySend(element: E, priority: Priority?): ChannelResult<Unit>

    /**
     * Sends [element], waiting [timeout] at most, in the clock of the caller's dispatcher. If the result is a failure
     * the element was not taken. With zero or less it does not wait. The [priority] is as for [send].
     *
     * *Cancellation.* As [send].
     */
    public suspend fun trySend(element: E, timeout: Duration, priority: Priority? = null): ChannelResult<Unit>

    /**
     * Waits for a place in the channel and reserves it. The caller later sends to it without waiting, or returns it. No
     * other sender can use a reserved place: waiting senders wait for its holder too, and a closed channel is not
     * drained before the place is used or returned. If the channel drops elements when it is full, this never waits and
     * reserves no place: the reservation sends as [trySend] does, and a closed channel refuses it.
     *
     * The [priority] is as for [send]: the level at which the caller waits, and sends.
     *
     * *Order.* Receivers may wait for the element of a reserved place while a `select` is queued to send. A `select`
     * that receives then meets that sender at once, ahead of those receivers; a [Channel.receive] does not.
     *
     * *Cancellation.* Throws and holds no place.
     *
     * @throws IllegalStateException if the [capacity] is 0: there are no places to reserve.
     * @throws ChannelClosedException if the channel is closed, before the call or while the caller waits.
     */
    public suspend fun reserve(priority: Priority? = null): Reservation<E>

    /**
     * Reserves a place if there is one now; else returns null. Otherwise as [reserve], except that without a [priority]
     * the level is NORMAL.
     *
     * @throws IllegalStateException if the [capacity] is 0.
     * @throws ChannelClosedException if the channel is closed.
     */
    public fun tryReserve(priority: Priority? = null): Reservation<E>?

    /**
     * As [reserve], but waits [timeout] at most, in the clock of the caller's dispatcher, and returns null if there was
     * no place in that time; then the caller holds none, even if the grant raced with the timeout. With zero or less it
     * does not wait.
     *
     * @throws IllegalStateException if the [capacity] is 0.
     * @throws ChannelClosedException if the channel is closed, before the call or while the caller waits.
     */
    public suspend fun tryReserve(timeout: Duration, priority: Priority? = null): Reservation<E>?

    /**
     * Sends within kotlinx.coroutines' `select`; the parameter is the element, at the level of the select's context.
     * The block gets this channel. A clause that loses sends nothing. A clause that has won, and whose select is
     * cancelled before it runs, sends nothing either, except to another select's [ReceiveChannel.onReceive]: the two
     * agree in one step, and the select may throw although its element was received. The select throws the exceptions
     * of [send].
     */
    public val onSend: SelectClause2<E, SendChannel<E>>

    /**
     * Closes the channel for sending: all waiting and all later senders get a [ChannelClosedException] with this
     * [cause]. Buffered elements, and those that will be sent to reserved places, can be received; after that,
     * receivers get the same exception. An iteration ends then, or throws the [cause] if there is one (in a
     * [ChannelClosedException] if it is a `CancellationException`, see [ChannelIterator]). A second close changes
     * nothing.
     *
     * @return whether this call closed it.
     */
    public fun close(cause: Throwable? = null): Boolean

    /**
     * Calls [handler] once, when the channel is closed or cancelled, with the cause given to that call, or null; at
     * once if it is closed already. The buffer may still hold elements then.
     *
     * The handler runs on the thread that closes the channel or registers the handler, with no lock held, and must
     * neither block nor take long. Its exceptions go to the thread's handler for uncaught exceptions. Several handlers
     * run in the order of their registration. They run after the waiting senders, and the receivers of an empty
     * channel, were resumed. At too deep a stack the handler runs once that thread has returned to the outermost
     * resumption, also after this call.
     *
     * @return a handle whose `dispose` drops the handler, if it has not run; for a caller that ends before the channel
     *   does.
     */
    public fun invokeOnClose(handler: (cause: Throwable?) -> Unit): DisposableHandle
}
