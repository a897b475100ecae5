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
 * Hands elements from those who send to those who receive, each element to one of them, with room for [capacity]
 * elements in between. Without room ([RENDEZVOUS]) sender and receiver meet.
 *
 * *Waiting.* [send] suspends until there is a place, or a receiver; [receive] until there is an element. [trySend] and
 * [tryReceive] never wait, or for a limited time. [onFull] says what else may happen when there is no place.
 *
 * *Order.* See [ChannelOrder]; by default strictly first sent, first received. Receivers are served first come, first
 * served, and so are senders, by priority those of one level; coroutines, `select` clauses and the futures of the Java
 * face stand in the same lines.
 *
 * *Cancellation.* Prompt, and no element is lost or doubled. A receiver that is cancelled throws and has received
 * nothing: what was handed to it in the last moment goes to the next receiver, or back to the head of the channel. So a
 * channel can hold more than its [capacity], and a rendezvous channel an element whose sender has gone on. A [send]
 * threw if and only if its element was not taken: a sender that is cancelled after that returns normally. A call that
 * need not wait does not look for cancellation. An element that was received is the receiver's: what an iteration, or
 * the collector of [asFlow], has got in hand is not given back.
 *
 * *End.* After [close] nothing can be sent; what is inside can be received, and then receivers learn that it is closed.
 * They learn it when the last receiver has run with its element: one that is cancelled before gives it to another.
 * [cancel] also throws away what is inside. What the channel took and nobody will receive, because it was dropped or
 * the channel cancelled, goes to `onDropped`.
 *
 * *Memory.* What happens before an element is sent happens before whatever follows its receipt.
 *
 * Elements may be null. All members may be called from any thread. Those who star-import kotlinx's `channels` as well
 * must import this class by name: `Channel<Int>(1)` is kotlinx's otherwise.
 *
 * @param capacity how many elements it holds for nobody waiting, 0 to [UNLIMITED].
 * @param onDropped gets what was taken and will not be received. It runs where it was dropped, with no lock held; what
 *   it throws goes to the thread's handler for uncaught exceptions.
 * @property order in which elements are received.
 * @property onFull what becomes of an element without a place.
 * @property name shown by messages and [toString].
 */
public class Channel<E>(
    capacity: Int = RENDEZVOUS,
    public val order: ChannelOrder = ChannelOrder.FIFO,
    public val onFull: OnFull = OnFull.SUSPEND,
    public val name: String? = null,
    onDropped: ((E) -> Unit)? = null,
) {
    internal val core: ChannelCore<E>

    init {
        requireCapacity(capacity)
        core = ChannelCore(capacity, order, onFull, onDropped, ::label)
    }

    /** For how many elements there is room. */
    public val capacity: Int get() = core.capacity

    /** How many elements can be received now; those of senders that wait are not among them. */
    public val size: Int get() = core.size

    /** How many callers wait, to send, to reserve or to receive. */
    public val waiting: Int get() = core.waiting

    /** Whether nothing can be sent any more. There may still be something to receive. */
    public val isClosed: Boolean get() = core.isClosed

    /** What an iteration that has met [closed] throws; null if it just ends. */
    internal fun endOf(closed: Throwable): Throwable? = if (core.isCancelled) closed else closed.cause

    /**
     * Sends [element], waiting for a place if need be and [onFull] says so. Under [ChannelOrder.PRIORITY] at the level
     * [priority]; without one, at that of the coroutine's context, else NORMAL.
     *
     * *Cancellation.* Throws if and only if the element was not taken.
     *
     * @throws ChannelClosedException if the channel is closed, before or meanwhile; the element was not taken.
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
     * the element was not taken. Zero or negative means now or not at all.
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
     * Waits for a place in the channel and keeps it for the caller, who sends into it later without waiting, or gives
     * it back. A place that is kept is nobody else's: those who wait for one wait for its holder, and a closed channel
     * is not drained before it was used or given back. Where [onFull] drops, it never waits and keeps no place: what is
     * sent by it is sent as by [trySend], and a closed channel refuses it.
     *
     * The [priority] is as for [send]: the level at which it waits, and sends.
     *
     * *Cancellation.* Throws holding no place.
     *
     * @throws IllegalStateException if the [capacity] is 0: there are no places to keep.
     * @throws ChannelClosedException if the channel is closed, before or meanwhile.
     */
    public suspend fun reserve(priority: Priority? = null): Reservation<E> {
        val level = levelIn(coroutineContext, priority)
        if (!reserveNow()) awaitGrant(core, level, PLACE)
        return Reservation(this, level)
    }

    /**
     * Keeps a place if there is one; else null. Otherwise as [reserve], but that the level without a [priority] is
     * NORMAL.
     *
     * @throws IllegalStateException if the [capacity] is 0.
     * @throws ChannelClosedException if the channel is closed.
     */
    public fun tryReserve(priority: Priority? = null): Reservation<E>? =
        if (reserveNow()) Reservation(this, levelOf(priority)) else null

    /**
     * As [reserve], but waits [timeout] at most, in the clock of the caller's dispatcher, and answers null if there was
     * no place in that time; then none is held, however close it was. Zero or negative means now or not at all.
     *
     * @throws IllegalStateException if the [capacity] is 0.
     * @throws ChannelClosedException if the channel is closed, before or meanwhile.
     */
    public suspend fun tryReserve(timeout: Duration, priority: Priority? = null): Reservation<E>? {
        val level = levelIn(coroutineContext, priority)
        val kept = reserveNow() || (timeout > Duration.ZERO && awaitGrant(core, level, PLACE, timeout))
        return if (kept) Reservation(this, level) else null
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
     * *Cancellation.* Throws having received nothing.
     *
     * @throws ChannelClosedException if the channel is closed and drained, before or meanwhile.
     */
    public suspend fun receive(): E {
        val element = core.poll()
        if (element === EMPTY) return awaitValue(core, tag = RECEIVE)
        if (element === CLOSED) throw core.closedException()
        return received(element)
    }

    /** As [receive], but tells in its result when the channel is closed and drained. */
    public suspend fun receiveCatching(): ChannelResult<E> {
        val element = core.poll()
        if (element !== EMPTY) return now(element)
        return unlessClosed { ChannelResult.success(awaitValue(core, tag = RECEIVE)) }
    }

    /**
     * Receives an element if there is one now, in the channel or brought by a sender that waits, and nobody waits to
     * receive before it. What a `select` or a reservation will send is not there yet.
     */
    public fun tryReceive(): ChannelResult<E> = now(core.poll())

    /**
     * Receives the next element, waiting [timeout] at most, in the clock of the caller's dispatcher. If the result is a
     * failure nothing was received, however close it was. Zero or negative means now or not at all.
     *
     * *Cancellation.* As [receive].
     */
    public suspend fun tryReceive(timeout: Duration): ChannelResult<E> {
        val element = core.poll()
        if (element !== EMPTY || timeout <= Duration.ZERO) return now(element)
        return unlessClosed {
            val value = awaitValue<Any?>(core, timeout, tag = RECEIVE, timedOut = EMPTY)
            if (value === EMPTY) ChannelResult.failed() else success(value)
        }
    }

    private fun now(element: Any): ChannelResult<E> =
        when {
            element === EMPTY -> ChannelResult.failed()
            element === CLOSED -> ChannelResult.closed(core.closedException())
            else -> ChannelResult.success(received(element))
        }

    @Suppress("UNCHECKED_CAST") // what was sent to a channel of E
    private fun success(value: Any?) = ChannelResult.success(value as E)

    @Suppress("UNCHECKED_CAST") // what was sent to a channel of E
    private fun received(element: Any) = ChannelState.unwrap(element) as E

    /** Receives until the channel is closed and drained; see [ChannelIterator] for how it ends. */
    public operator fun iterator(): ChannelIterator<E> = ChannelIterator(this)

    /**
     * Changes the capacity. Growing lets in senders that wait. Shrinking throws nothing away: what is held beyond it is
     * received first, or dropped by the next send if [onFull] is [OnFull.DROP_OLDEST].
     *
     * @throws IllegalArgumentException if [capacity] is negative.
     * @throws ChannelClosedException if the channel is closed.
     */
    public fun resize(capacity: Int) {
        requireCapacity(capacity)
        if (!core.resize(capacity)) throw core.closedException()
    }

    /**
     * Ends the sending: those who wait to send, and whoever does from now on, get a [ChannelClosedException] with this
     * [cause]. What is inside, or will be sent to a place that is reserved, can be received; after that, receivers get
     * the same. An iteration then ends, but with a [cause] throws that. A second close changes nothing.
     *
     * @return whether this call closed it.
     */
    public fun close(cause: Throwable? = null): Boolean = core.close(cause)

    /**
     * Ends everything: as [close], and what is inside is thrown away. Everybody gets a [ChannelClosedException], with
     * the cause of a close before it, else with this [cause].
     */
    public fun cancel(cause: Throwable? = null) {
        core.cancel(cause)
    }

    /**
     * Sends within kotlinx.coroutines' `select`; the parameter is the element, at the level of the select's context.
     * The block gets this channel. A clause that loses sends nothing. One whose select is cancelled after it has won and
     * before it runs sends nothing either, except to another select's [onReceive]: the two then agree in one step, and
     * the select may throw although its element was received. The select throws what [send] would.
     */
    public val onSend: SelectClause2<E, Channel<E>> get() = SelectClauses.clause2(SendClause(this))

    /**
     * Receives within kotlinx.coroutines' `select`. A clause that loses receives nothing: a sender asks the select before
     * it hands over its element. What a clause was handed whose select is cancelled before it runs is not lost: it goes
     * to the next receiver, or back to the head of the channel. The select throws what [receive] would.
     */
    public val onReceive: SelectClause1<E> get() = SelectClauses.clause1(ReceiveClause(this))

    /** As [onReceive], but the block is told when the channel is closed and drained. */
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
        /** No room: a sender waits for a receiver. */
        public const val RENDEZVOUS: Int = 0

        /** Room for all that memory has room for. */
        public const val UNLIMITED: Int = Int.MAX_VALUE

        private val NORMAL = Priority.NORMAL.ordinal
    }
}

/** Receives the next element, or null if the channel is closed and drained. Otherwise as [Channel.receive]. */
public suspend fun <E : Any> Channel<E>.receiveOrNull(): E? = receiveCatching().getOrNull()

/** Runs [attempt]; if the channel is closed meanwhile, that is its result. */
internal inline fun <T> unlessClosed(attempt: () -> ChannelResult<T>): ChannelResult<T> =
    try {
        attempt()
    } catch (e: ChannelClosedException) {
        ChannelResult.closed(e)
    }
