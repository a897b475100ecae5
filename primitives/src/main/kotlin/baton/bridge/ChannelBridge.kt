@file:JvmName("ChannelBridge")

package baton.bridge

import baton.InternalBatonApi
import baton.Priority
import baton.channels.Channel
import baton.channels.ChannelOrder
import baton.channels.OnFull
import baton.channels.core.ChannelState
import baton.channels.endOf
import baton.waiting.ClauseWaiter
import baton.waiting.WaitCore
import baton.waiting.Waiter
import java.util.function.Consumer

// The internal API of the channels for Baton's Java API; SyncBridge.kt has that of the other primitives.

/**
 * The core at which receivers and senders wait. A receiver's request is [RECEIVE], and it is granted the element; a
 * sender's is [PLACE] or a [wrap]ped element, and its number the level.
 */
@InternalBatonApi @JvmName("of") public fun coreOf(channel: Channel<*>): WaitCore = channel.core

@InternalBatonApi @JvmField public val RECEIVE: Any = ChannelState.RECEIVE

@InternalBatonApi @JvmField public val PLACE: Any = ChannelState.PLACE

/** The request of a waiter for the end alone: it fails when receivers do, and does not count as a receiver. */
@InternalBatonApi @JvmField public val END: Any = ChannelState.END

/** The result of [poll] when there is no element. */
@InternalBatonApi @JvmField public val EMPTY: Any = ChannelState.EMPTY

@InternalBatonApi
public fun <E> channelOf(
    capacity: Int,
    order: ChannelOrder,
    onFull: OnFull,
    name: String?,
    onDropped: Consumer<in E>?,
): Channel<E> = Channel(capacity, order, onFull, name, onDropped?.let { it::accept })

/** An element as the core knows it. */
@InternalBatonApi public fun wrap(element: Any?): Any = ChannelState.wrap(element)

/** The value that was sent, of an element as the core knows it. */
@InternalBatonApi public fun unwrap(element: Any): Any? = ChannelState.unwrap(element)

@InternalBatonApi public fun levelOf(channel: Channel<*>, priority: Priority?): Int = channel.levelOf(priority)

/** Sends [element], as the core knows it, if that needs no waiting. */
@InternalBatonApi
public fun offer(channel: Channel<*>, element: Any, level: Int): Boolean =
    isDone(channel, channel.core.offer(element, level))

/** Reserves a place if that needs no waiting. */
@InternalBatonApi public fun reserve(channel: Channel<*>): Boolean = isDone(channel, channel.core.reserve())

private fun isDone(channel: Channel<*>, outcome: ChannelState.Outcome) =
    when (outcome) {
        ChannelState.Outcome.DONE -> true
        ChannelState.Outcome.BUSY -> false
        ChannelState.Outcome.CLOSED -> throw channel.core.closedException()
    }

/** Takes the next element, as the core knows it, or returns [EMPTY]; throws if the channel is closed and drained. */
@InternalBatonApi public fun poll(channel: Channel<*>): Any = unlessClosed(channel, channel.core.poll())

/** As [poll], but leaves an element that is null in the channel, and throws a [NullPointerException]. */
@InternalBatonApi
public fun pollPresent(channel: Channel<*>): Any {
    val element = unlessClosed(channel, channel.core.pollPresent())
    return unwrap(element) ?: throw NullPointerException("the next element is null, and stays in $channel")
}

private fun unlessClosed(channel: Channel<*>, element: Any) =
    if (element === ChannelState.CLOSED) throw channel.core.closedException() else element

/** Sends [element], as the core knows it, to a place that was reserved; throws if the channel was cancelled. */
@InternalBatonApi
public fun sendReserved(channel: Channel<*>, element: Any, level: Int) {
    if (!channel.core.sendReserved(element, level)) throw channel.core.closedException()
}

/** Sends the element of the sending clause [winner], unless a receiver has taken it; throws if that is refused. */
@InternalBatonApi
public fun sendIfNotSent(channel: Channel<*>, winner: ClauseWaiter): Unit = channel.core.sendIfNotSent(winner)

/** Gives back a place that was reserved. */
@InternalBatonApi public fun leavePlace(channel: Channel<*>): Unit = channel.core.leavePlace()

/** The exception of an iteration that has met [closed]; null if the iteration just ends. */
@InternalBatonApi @JvmName("endOf") public fun iterationEndOf(closed: Throwable): Throwable? = endOf(closed)

/** A list of up to [limit] elements, or [EMPTY] if there is none now; throws if the channel is closed and drained. */
@InternalBatonApi
public fun pollUpTo(channel: Channel<*>, limit: Int): Any {
    require(limit >= 1) { "limit = $limit, must be at least 1" }
    return unlessClosed(channel, channel.core.pollUpTo(limit))
}

/** The grant of [receiver] with the elements that are there now, up to [limit] in all; the same list for all calls. */
@InternalBatonApi
public fun receivedUpTo(channel: Channel<*>, receiver: Waiter, limit: Int): List<Any?> =
    channel.core.receivedUpTo(receiver, limit)
