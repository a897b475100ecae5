package baton.channels

import baton.Priority
import baton.channels.ChannelState.Companion.CLOSED
import baton.channels.ChannelState.Companion.EMPTY
import baton.channels.ChannelState.Companion.PLACE
import baton.channels.ChannelState.Companion.RECEIVE
import baton.channels.ChannelState.Outcome
import baton.priority
import baton.waiting.coroutine.SelectClauses
import baton.waiting.coroutine.awaitGrant
import baton.waiting.coroutine.awaitValue
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.coroutineContext
import kotlin.time.Duration
import kotlinx.coroutines.selects.SelectClause1
import kotlinx.coroutines.selects.SelectClause2

/**
 * Passes elements from senders to receivers, each element to one receiver, with a buffer for [capacity] elements.
 * Without a buffer ([RENDEZVOUS]) sender and receiver meet.
 *
 * ```
 * val pages = Channel<Page>(capacity = 10)
 * launch { for (page in pages) index(page) }
 * urls.forEach { url -> pages.send(fetch(url)) }
 * pages.close()
 * ```
 *
 * *Waiting.* [send] suspends until there is a place in the buffer, or a receiver; [receive] until there is an element.
 * [trySend] and [tryReceive] never wait, or for a limited time. [onFull] defines alternatives to waiting for a place.
 *
 * *Order.* See [ChannelOrder]; by default strictly first sent, first received. Receivers are served first come, first
 * served, and so are senders (with priorities: the senders of one level); coroutines, `select` clauses and the futures
 * of the Java API share the same queues.
 *
 * *Cancellation.* Prompt, and no element is lost or duplicated. A receiver that is cancelled throws and has received
 * nothing: an element that was handed to it before it ran goes to the next receiver, or back to the head of the
 * channel. So a channel can hold more than its [capacity], and a rendezvous channel can hold an element whose sender
 * has already returned. A [send] throws if and only if its element was not taken: a sender that is cancelled after that
 * returns normally. A call that does not have to wait does not check for cancellation. A received element belongs to
 * the receiver: the element that an iteration, or the collector of [asFlow], is processing does not return to the
 * channel.
 *
 * *End.* After [close] no element can be sent; the buffered elements can be received, and after that receivers see that
 * the channel is closed. They see it once the last receiver runs with its element: if that receiver is cancelled
 * before, the element goes to another. [cancel] also discards the buffered elements. Elements that the channel took and
 * that no receiver will get, because they were dropped or the channel was cancelled, go to `onDropped`.
 *
 * *Memory.* Actions before an element is sent happen before the actions that follow its receipt.
 *
 * Elements may be null. All members may be called from any thread. Code that also star-imports kotlinx's `channels`
 * must import this class by name: otherwise `Channel<Int>(1)` is kotlinx's.
 *
 * @param capacity how many elements the channel buffers without a waiting receiver, 0 to [UNLIMITED].
 * @param onDropped gets each element that was taken and will not be received. It runs on the thread that dropped the
 *   element, with no lock held; its exceptions go to the thread's handler for uncaught exceptions.
 * @property order the order in which elements are received.
 * @property onFull the treatment of an element for which there is no place.
 * @property name shown by messages and [toString].
 */
public class Channel<E>(
    capacity: Int = RENDEZVOUS,
    public val order: ChannelOrder = ChannelOrder.FIFO,
    public val onFull: OnFull = OnFull.SUSPEND,
    public val name: String? = null,
    onDropped: ((E) -> Unit)? = null,
) {
    @get:JvmSynthetic internal val core: ChannelCore<E>

    init {
        requireCapacity(capacity)
        core = ChannelCore(capacity, order, onFull, onDropped, ::label)
    }

    /** The number of elements that the buffer has places for. */
    public val capacity: Int
        get() = core.capacity

    /** How many elements can be received now; the elements of waiting senders are not included. */
    public val size: Int
        get() = core.size

    /** How many callers wait to send, to reserve or to receive. */
    public val waiting: Int
        get() = core.waiting

    /** Whether no more elements can be sent. There may still be elements to receive. */
    public val isClosed: Boolean
        get() = core.isClosed

    /** The exception with which an iteration that has met [closed] ends; null if it ends normally. */
    internal fun endOf(closed: Throwable): Throwable? = if (core.isCancelled) closed else closed.cause

    /**
     * Sends [element], waiting for a place if necessary and [onFull] says so. Under [ChannelOrder.PRIORITY] it is sent
     * at the level [priority]; without one, at the level of the coroutine's context, else NORMAL.
     *
     * *Cancellation.* Throws if and only if the element was not taken.
     *
     * @throws ChannelClosedException if the channel is closed, before the call or while the caller waits; the element
     *   was not taken.
     */
    public suspend fun send(element: E, priority: Priority? = null) {
        val wrapped = ChannelState.wrap(element)
        val level = levelIn(coroutineContext, priority)
        when (core.offer(wrapped, level)) {
            Outcome.DONE -> return
            Outcome.CLOSED -> throw core.closedException()
            Outcome.BUSY -> awaitGrant(core, level, wrapped)
        }
    }

    /** Sends [element] if that needs no waiting. The [priority] is as for [send]; without one it is NORMAL. */
    public fun trySend(element: E, priority: Priority? = null): ChannelResult<Unit> =
        when (core.offer(ChannelState.wrap(element), levelOf(priority))) {
            Outcome.DONE -> ChannelResult.success(Unit)
            Outcome.CLOSED -> ChannelResult.closed(core.closedException())
            Outcome.BUSY -> ChannelResult.failed()
        }

    /**
     * Sends [element], waiting [timeout] at most, in the clock of the caller's dispatcher. If the result is a failure
     * the element was not taken. With zero or less it does not wait.
     *
     * *Cancellation.* As [send].
     */
    public suspend fun trySend(element: E, timeout: Duration, priority: Priority? = null): ChannelResult<Unit> {
        val wrapped = ChannelState.wrap(element)
        val level = levelIn(coroutineContext, priority)
        return when (core.offer(wrapped, level)) {
            Outcome.DONE -> ChannelResult.success(Unit)
            Outcome.CLOSED -> ChannelResult.closed(core.closedException())
            Outcome.BUSY ->
                unlessClosed {
                    val sent = timeout > Duration.ZERO && awaitGrant(core, level, wrapped, timeout)
                    if (sent) ChannelResult.success(Unit) else ChannelResult.failed()
                }
        }
    }

    /**
     * Waits for a place in the channel and reserves it. The caller later sends to it without waiting, or returns it. No
     * other sender can use a reserved place: waiting senders wait for its holder too, and a closed channel is not
     * drained before the place is used or returned. If [onFull] drops elements, this never waits and reserves no place:
     * the reservation sends as [trySend] does, and a closed channel refuses it.
     *
     * The [priority] is as for [send]: the level at which the caller waits, and sends.
     *
     * *Order.* Receivers may wait for the element of a reserved place while a `select` is queued to send. A `select`
     * that receives then meets that sender at once, ahead of those receivers; a [receive] does not.
     *
     * *Cancellation.* Throws and holds no place.
     *
     * @throws IllegalStateException if the [capacity] is 0: there are no places to reserve.
     * @throws ChannelClosedException if the channel is closed, before the call or while the caller waits.
     */
    public suspend fun reserve(priority: Priority? = null): Reservation<E> {
        val level = levelIn(coroutineContext, priority)
        if (!reserveNow()) awaitGrant(core, level, PLACE)
        return Reservation(this, level)
    }

    /**
     * Reserves a place if there is one now; else returns null. Otherwise as [reserve], except that without a [priority]
     * the level is NORMAL.
     *
     * @throws IllegalStateException if the [capacity] is 0.
     * @throws ChannelClosedException if the channel is closed.
     */
    public fun tryReserve(priority: Priority? = null): Reservation<E>? =
        if (reserveNow()) Reservation(this, levelOf(priority)) else null

    /**
     * As [reserve], but waits [timeout] at most, in the clock of the caller's dispatcher, and returns null if there was
     * no place in that time; then the caller holds none, even if the grant raced with the timeout. With zero or less it
     * does not wait.
     *
     * @throws IllegalStateException if the [capacity] is 0.
     * @throws ChannelClosedException if the channel is closed, before the call or while the caller waits.
     */
    public suspend fun tryReserve(timeout: Duration, priority: Priority? = null): Reservation<E>? {
        val level = levelIn(coroutineContext, priority)
        val reserved = reserveNow() || (timeout > Duration.ZERO && awaitGrant(core, level, PLACE, timeout))
        return if (reserved) Reservation(this, level) else null
    }

    private fun reserveNow(): Boolean {
        check(capacity > 0) { "reserve with capacity = 0, must be at least 1: $this" }
        return when (core.reserve()) {
            Outcome.DONE -> true
            Outcome.CLOSED -> throw core.closedException()
            Outcome.BUSY -> false
        }
    }

    /**
     * Receives the next element.
     *
     * *Cancellation.* Throws and has received nothing.
     *
     * @throws ChannelClosedException if the channel is closed and drained, before the call or while the caller waits.
     */
    public suspend fun receive(): E {
        val element = core.poll()
        if (element === EMPTY) return awaitValue(core, request = RECEIVE)
        if (element === CLOSED) throw core.closedException()
        return received(element)
    }

    /** As [receive], but returns a result that also says whether the channel is closed and drained. */
    public suspend fun receiveCatching(): ChannelResult<E> {
        val element = core.poll()
        if (element !== EMPTY) return resultOf(element)
        return unlessClosed { ChannelResult.success(awaitValue(core, request = RECEIVE)) }
    }

    /**
     * Receives an element if there is one now, in the buffer or of a waiting sender, and no other receiver waits. An
     * element that a `select` or a reservation will send does not count yet.
     */
    public fun tryReceive(): ChannelResult<E> = resultOf(core.poll())

    /**
     * Receives the next element, waiting [timeout] at most, in the clock of the caller's dispatcher. If the result is a
     * failure the caller received nothing, even if the grant raced with the timeout. With zero or less it does not
     * wait.
     *
     * *Cancellation.* As [receive].
     */
    public suspend fun tryReceive(timeout: Duration): ChannelResult<E> {
        val element = core.poll()
        if (element !== EMPTY || timeout <= Duration.ZERO) return resultOf(element)
        return unlessClosed {
            val value = awaitValue<Any?>(core, timeout, request = RECEIVE, timedOut = EMPTY)
            if (value === EMPTY) ChannelResult.failed() else success(value)
        }
    }

    private fun resultOf(element: Any): ChannelResult<E> =
        when {
            element === EMPTY -> ChannelResult.failed()
            element === CLOSED -> ChannelResult.closed(core.closedException())
            else -> ChannelResult.success(received(element))
        }

    @Suppress("UNCHECKED_CAST") // The element was sent to a channel of E.
    private fun success(value: Any?) = ChannelResult.success(value as E)

    @Suppress("UNCHECKED_CAST") // The element was sent to a channel of E.
    private fun received(element: Any) = ChannelState.unwrap(element) as E

    /** Iterates over received elements until the channel is closed and drained; see [ChannelIterator] for the end. */
    public operator fun iterator(): ChannelIterator<E> = ChannelIterator(this)

    /**
     * Changes the capacity. Growing admits waiting senders. Shrinking discards nothing: surplus elements stay until
     * they are received, or dropped by the next send if [onFull] is [OnFull.DROP_OLDEST].
     *
     * @throws IllegalArgumentException if [capacity] is negative.
     * @throws ChannelClosedException if the channel is closed.
     */
    public fun resize(capacity: Int) {
        requireCapacity(capacity)
        if (!core.resize(capacity)) throw core.closedException()
    }

    /**
     * Closes the channel for sending: all waiting and all later senders get a [ChannelClosedException] with this
     * [cause]. Buffered elements, and those that will be sent to reserved places, can be received; after that,
     * receivers get the same exception. An iteration ends then, or throws the [cause] if there is one. A second close
     * changes nothing.
     *
     * @return whether this call closed it.
     */
    public fun close(cause: Throwable? = null): Boolean = core.close(cause)

    /**
     * Closes the channel for sending and receiving, and drops the buffered elements. All waiting and all later callers
     * get a [ChannelClosedException], with the cause of an earlier close, else with this [cause].
     */
    public fun cancel(cause: Throwable? = null) {
        core.cancel(cause)
    }

    /**
     * Sends within kotlinx.coroutines' `select`; the parameter is the element, at the level of the select's context.
     * The block gets this channel. A clause that loses sends nothing. A clause that has won, and whose select is
     * cancelled before it runs, sends nothing either, except to another select's [onReceive]: the two agree in one
     * step, and the select may throw although its element was received. The select throws the exceptions of [send].
     */
    public val onSend: SelectClause2<E, Channel<E>>
        get() = SelectClauses.clause2(SendClause(this))

    /**
     * Receives within kotlinx.coroutines' `select`. A clause that loses receives nothing: a sender asks the select
     * before it hands over its element. If the select is cancelled before it runs, the element of its winning clause
     * goes to the next receiver, or back to the head of the channel. The select throws the exceptions of [receive].
     */
    public val onReceive: SelectClause1<E>
        get() = SelectClauses.clause1(ReceiveClause(this))

    /** As [onReceive], but the block gets a result that also says whether the channel is closed and drained. */
    public val onReceiveCatching: SelectClause1<ChannelResult<E>>
        get() = SelectClauses.clause1(ReceiveCatchingClause(this))

    internal fun levelIn(context: CoroutineContext, priority: Priority?) =
        if (order == ChannelOrder.FIFO) NORMAL else levelOf(priority ?: context.priority)

    internal fun levelOf(priority: Priority?) = priority?.ordinal ?: NORMAL

    private fun requireCapacity(capacity: Int) {
        require(capacity >= 0) { "capacity = $capacity, must be at least 0" }
    }

    private fun label() = if (name == null) "Channel" else "Channel '$name'"

    override fun toString(): String {
        val end = if (core.isCancelled) ", cancelled" else if (isClosed) ", closed" else ""
        val bound = if (capacity == UNLIMITED) "unlimited" else capacity.toString()
        return "${label()} (size = $size, capacity = $bound, waiting = $waiting$end)"
    }

    /** Capacities. */
    public companion object {
        /** No buffer: a sender waits for a receiver. */
        public const val RENDEZVOUS: Int = 0

        /** A buffer bounded only by memory. */
        public const val UNLIMITED: Int = Int.MAX_VALUE

        private val NORMAL = Priority.NORMAL.ordinal
    }
}

/** Receives the next element, or null if the channel is closed and drained. Otherwise as [Channel.receive]. */
public suspend fun <E : Any> Channel<E>.receiveOrNull(): E? = receiveCatching().getOrNull()

/** Returns the result of [attempt], or a closed result if it throws that the channel is closed. */
@JvmSynthetic
internal inline fun <T> unlessClosed(attempt: () -> ChannelResult<T>): ChannelResult<T> =
    try {
        attempt()
    } catch (e: ChannelClosedException) {
        ChannelResult.closed(e)
    }
