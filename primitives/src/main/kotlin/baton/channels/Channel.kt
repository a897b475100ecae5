package baton.channels

import baton.Priority
import baton.channels.core.ChannelCore
import baton.channels.core.ChannelState
import baton.channels.core.ChannelState.Companion.CLOSED
import baton.channels.core.ChannelState.Companion.EMPTY
import baton.channels.core.ChannelState.Companion.PLACE
import baton.channels.core.ChannelState.Companion.RECEIVE
import baton.channels.core.ChannelState.Outcome
import baton.channels.core.CloseHandler
import baton.monitoring.Monitored
import baton.monitoring.Usage
import baton.monitoring.core.listIfNamed
import baton.monitoring.toUsage
import baton.priority
import baton.waiting.coroutine.SelectClauses
import baton.waiting.coroutine.SelectWaiter
import baton.waiting.coroutine.SelectableCore
import baton.waiting.coroutine.awaitGrant
import baton.waiting.coroutine.awaitValue
import baton.waiting.coroutine.isExplored
import baton.waiting.lookAtWaiters
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.coroutineContext
import kotlin.time.Duration
import kotlinx.coroutines.DisposableHandle
import kotlinx.coroutines.InternalCoroutinesApi
import kotlinx.coroutines.channels.Channel as KotlinxChannel
import kotlinx.coroutines.selects.SelectClause1
import kotlinx.coroutines.selects.SelectClause2
import kotlinx.coroutines.selects.SelectInstance

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
 * returns normally. Of all ways to send, one is less exact: [onSend] in a `select` that meets another select's
 * [onReceive] may throw although its element was received. A call that does not have to wait does not check for
 * cancellation. A received element belongs to the receiver: the element that an iteration, or the collector of
 * [asFlow], is processing does not return to the channel.
 *
 * *End.* After [close] no element can be sent; the buffered elements can be received, and after that receivers see that
 * the channel is closed. They see it once the last receiver runs with its element: if that receiver is cancelled
 * before, the element goes to another. [cancel] is a [close] that also discards the buffered elements. After either,
 * `for`, [asFlow] and [receiveOrNull] end normally, and [send] and [receive] throw [ChannelClosedException]; neither
 * cancels a coroutine that uses the channel. Elements that the channel took and that no receiver will get, because they
 * were dropped or the channel was cancelled, go to `onDropped`.
 *
 * *Memory.* Actions before an element is sent happen before the actions that follow its receipt.
 *
 * Code that only sends takes a [SendChannel], code that only receives a [ReceiveChannel]. To see what passes, write a
 * class that implements one of them or both by delegation to a channel; [ReceiveChannel] says what does not go through
 * it.
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
    public override val name: String? = null,
    onDropped: ((E) -> Unit)? = null,
) : SendChannel<E>, ReceiveChannel<E>, Monitored {
    @get:JvmSynthetic internal val core: ChannelCore<E>

    init {
        requireCapacity(capacity)
        core = ChannelCore(capacity, order, onFull, onDropped, this)
        listIfNamed(core)
    }

    /**
     * A conflated channel: it keeps the latest element, and a send never waits. The same as a capacity of 1 with
     * [OnFull.DROP_OLDEST].
     */
    @Suppress("UNUSED_PARAMETER") // There is one such capacity.
    public constructor(
        capacity: ConflatedCapacity,
        name: String? = null,
        onDropped: ((E) -> Unit)? = null,
    ) : this(capacity = 1, onFull = OnFull.DROP_OLDEST, name = name, onDropped = onDropped)

    override val capacity: Int
        get() = core.capacity

    override val remainingCapacity: Int
        get() = core.remainingCapacity

    override val size: Int
        get() = core.size

    /** How many callers wait to send, to reserve or to receive. */
    public val waiting: Int
        get() = core.waiting

    /**
     * The [size] of the [capacity], and the callers that wait to send or to reserve. Receivers do not count: what they
     * wait for is not the channel's capacity.
     */
    override fun usage(): Usage = core.lookAtWaiters().toUsage(size.toLong(), capacity.toLong())

    /** The same as [isClosedForSend]: there may still be elements to receive. */
    public val isClosed: Boolean
        get() = core.isClosed

    override val isClosedForSend: Boolean
        get() = core.isClosed

    override val isClosedForReceive: Boolean
        get() = core.isClosedForReceive

    override suspend fun send(element: E): Unit = send(element, priority = null)

    override suspend fun send(element: E, priority: Priority?) {
        val wrapped = ChannelState.wrap(element)
        val level = levelIn(coroutineContext, priority)
        when (if (isExplored()) Outcome.BUSY else core.offer(wrapped, level)) {
            Outcome.DONE -> return
            Outcome.CLOSED -> throw core.closedException()
            Outcome.BUSY -> awaitGrant(core, level, wrapped)
        }
    }

    override fun trySend(element: E): ChannelResult<Unit> = trySend(element, priority = null)

    override fun trySend(element: E, priority: Priority?): ChannelResult<Unit> =
        when (core.offer(ChannelState.wrap(element), levelOf(priority))) {
            Outcome.DONE -> ChannelResult.success(Unit)
            Outcome.CLOSED -> ChannelResult.refused(core.closedException())
            Outcome.BUSY -> ChannelResult.failed()
        }

    override suspend fun trySend(element: E, timeout: Duration, priority: Priority?): ChannelResult<Unit> {
        val wrapped = ChannelState.wrap(element)
        val level = levelIn(coroutineContext, priority)
        return when (if (isExplored(timeout)) Outcome.BUSY else core.offer(wrapped, level)) {
            Outcome.DONE -> ChannelResult.success(Unit)
            Outcome.CLOSED -> ChannelResult.refused(core.closedException())
            Outcome.BUSY ->
                try {
                    val sent = timeout > Duration.ZERO && awaitGrant(core, level, wrapped, timeout)
                    if (sent) ChannelResult.success(Unit) else ChannelResult.failed()
                } catch (e: ChannelClosedException) {
                    ChannelResult.refused(e)
                }
        }
    }

    override suspend fun reserve(priority: Priority?): Reservation<E> {
        val level = levelIn(coroutineContext, priority)
        checkCapacity()
        if (isExplored() || !reserveNow()) awaitGrant(core, level, PLACE)
        return Reservation(this, level)
    }

    override fun tryReserve(priority: Priority?): Reservation<E>? {
        checkCapacity()
        return if (reserveNow()) Reservation(this, levelOf(priority)) else null
    }

    override suspend fun tryReserve(timeout: Duration, priority: Priority?): Reservation<E>? {
        val level = levelIn(coroutineContext, priority)
        checkCapacity()
        val reserved =
            !isExplored(timeout) && reserveNow() || timeout > Duration.ZERO && awaitGrant(core, level, PLACE, timeout)
        return if (reserved) Reservation(this, level) else null
    }

    private fun checkCapacity() {
        check(capacity > 0) { "reserve with capacity = 0, must be at least 1: $this" }
    }

    private fun reserveNow(): Boolean =
        when (core.reserve()) {
            Outcome.DONE -> true
            Outcome.CLOSED -> throw core.closedException()
            Outcome.BUSY -> false
        }

    override suspend fun receive(): E {
        val element = if (isExplored()) EMPTY else core.poll()
        if (element === EMPTY) return awaitValue(core, request = RECEIVE)
        if (element === CLOSED) throw core.closedException()
        return unwrap(element)
    }

    override suspend fun receiveCatching(): ChannelResult<E> {
        val element = if (isExplored()) EMPTY else core.poll()
        if (element !== EMPTY) return resultOf(element)
        return unlessClosed { ChannelResult.success(awaitValue(core, request = RECEIVE)) }
    }

    override suspend fun receiveUpTo(limit: Int): List<E> {
        require(limit >= 1) { "limit = $limit, must be at least 1" }
        val elements = if (isExplored()) EMPTY else core.pollUpTo(limit)
        return when {
            elements === EMPTY -> awaitUpTo(limit)
            elements === CLOSED -> noMore(core.closedException())
            else -> received(elements)
        }
    }

    private suspend fun awaitUpTo(limit: Int): List<E> {
        val first =
            try {
                awaitValue<Any?>(core, request = RECEIVE)
            } catch (e: ChannelClosedException) {
                return noMore(e)
            }
        // It has received the first one: from here on it does not suspend.
        return received(core.withMore(ChannelState.wrap(first), limit))
    }

    private fun noMore(closed: ChannelClosedException): List<E> {
        endOf(closed)?.let { throw it }
        return emptyList()
    }

    @Suppress("UNCHECKED_CAST") // The elements were sent to a channel of E.
    private fun received(elements: Any) = elements as List<E>

    override fun tryReceive(): ChannelResult<E> = resultOf(core.poll())

    override suspend fun tryReceive(timeout: Duration): ChannelResult<E> {
        val element = if (isExplored(timeout)) EMPTY else core.poll()
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
            else -> ChannelResult.success(unwrap(element))
        }

    @Suppress("UNCHECKED_CAST") // The element was sent to a channel of E.
    private fun success(value: Any?) = ChannelResult.success(value as E)

    @Suppress("UNCHECKED_CAST") // The element was sent to a channel of E.
    private fun unwrap(element: Any) = ChannelState.unwrap(element) as E

    override fun iterator(): ChannelIterator<E> = ChannelIterator(this)

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

    override fun close(cause: Throwable?): Boolean = core.close(cause)

    override fun cancel(cause: Throwable?) {
        core.cancel(cause)
    }

    override val onSend: SelectClause2<E, Channel<E>>
        get() = SelectClauses.clause2(SendClause(this))

    override val onReceive: SelectClause1<E>
        get() = SelectClauses.clause1(ReceiveClause(this))

    override val onReceiveCatching: SelectClause1<ChannelResult<E>>
        get() = SelectClauses.clause1(ReceiveCatchingClause(this))

    override fun invokeOnClose(handler: (cause: Throwable?) -> Unit): DisposableHandle =
        CloseHandler(core, handler).also(core::invokeOnClose)

    @JvmSynthetic
    internal fun levelIn(context: CoroutineContext, priority: Priority?) =
        if (order == ChannelOrder.FIFO) NORMAL else levelOf(priority ?: context.priority)

    @JvmSynthetic internal fun levelOf(priority: Priority?) = priority?.ordinal ?: NORMAL

    private fun requireCapacity(capacity: Int) {
        require(capacity >= 0) { "capacity = $capacity, must be at least 0${likeInKotlinx(capacity)}" }
    }

    /** The constants of kotlinx.coroutines are numbers, and compile here, too. */
    private fun likeInKotlinx(capacity: Int): String {
        val name =
            when (capacity) {
                KotlinxChannel.BUFFERED -> "BUFFERED"
                KotlinxChannel.CONFLATED -> "CONFLATED"
                else -> return ""
            }
        return ": this is Channel.$name of kotlinx.coroutines, the one of Baton is baton.channels.Channel.$name"
    }

    override fun toString(): String {
        val end = if (core.isCancelled) ", cancelled" else if (isClosed) ", closed" else ""
        val bound = if (capacity == UNLIMITED) "unlimited" else capacity.toString()
        return "${core.label()} (size = $size, capacity = $bound, waiting = $waiting$end)"
    }

    /** Capacities. */
    public companion object {
        /** No buffer: a sender waits for a receiver. */
        public const val RENDEZVOUS: Int = 0

        /** A buffer of a size that is right for most uses. */
        public const val BUFFERED: Int = 64

        /** The latest element alone, see the constructor that takes it. */
        @JvmField public val CONFLATED: ConflatedCapacity = ConflatedCapacity

        /** A buffer bounded only by memory. */
        public const val UNLIMITED: Int = Int.MAX_VALUE

        private val NORMAL = Priority.NORMAL.ordinal
    }
}

/** Offers its element. If it gets a place instead of a receiver, it sends when the select runs. */
@OptIn(InternalCoroutinesApi::class)
private class SendClause<E>(private val channel: Channel<E>) : SelectableCore() {
    override fun waiter(clause: Any, select: SelectInstance<*>, param: Any?): SelectWaiter =
        SelectWaiter(channel.core, channel.levelIn(select.context, null), ChannelState.wrap(param), clause, select)

    override fun valueOf(winner: SelectWaiter): Channel<E> {
        channel.core.sendIfNotSent(winner)
        return channel
    }
}

@OptIn(InternalCoroutinesApi::class)
private open class ReceiveClause<E>(private val channel: Channel<E>) : SelectableCore() {
    override fun waiter(clause: Any, select: SelectInstance<*>, param: Any?): SelectWaiter =
        SelectWaiter(channel.core, number = 0, ChannelState.RECEIVE, clause, select)

    override fun valueOf(winner: SelectWaiter): Any? = channel.core.grantOf(winner, null)
}

private class ReceiveCatchingClause<E>(private val channel: Channel<E>) : ReceiveClause<E>(channel) {
    override fun result(result: Any?): Any? = unlessClosed { ChannelResult.success(super.result(result)) }
}
