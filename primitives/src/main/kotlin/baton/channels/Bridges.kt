@file:JvmName("Channels")

package baton.channels

import kotlinx.coroutines.channels.ReceiveChannel
import kotlinx.coroutines.channels.SendChannel
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow

/**
 * A flow of what this channel receives, until it is closed and drained; it ends as an iteration does, see
 * [ChannelIterator]. Every collector takes elements from the same channel. One that stops early leaves the rest in it; what
 * it was handed counts as delivered.
 */
public fun <E> Channel<E>.asFlow(): Flow<E> = flow { for (element in this@asFlow) emit(element) }

/**
 * Sends what this flow emits to [target], waiting for a place each time, and closes neither.
 *
 * @throws ClosedChannelException if [target] is closed; the flow's collection ends then.
 */
public suspend fun <E> Flow<E>.sendTo(target: Channel<E>) {
    collect { target.send(it) }
}

/**
 * Sends what this channel of kotlinx.coroutines receives to [target], until this one is closed. Neither is closed.
 *
 * A place in [target] is waited for first, and kept while this channel has nothing: whoever is cancelled meanwhile has
 * taken nothing out of it. (What kotlinx hands out in the moment of a cancellation goes to its own
 * `onUndeliveredElement`.) Where [target] has a capacity of 0 there is no place to keep: an element that waits for its
 * receiver has left this channel, and is lost if that wait is cancelled or [target] closed. So is, with any capacity, one
 * that comes when [target] was cancelled.
 *
 * @throws ClosedChannelException if [target] is closed.
 */
public suspend fun <E> ReceiveChannel<E>.sendTo(target: Channel<E>) {
    if (target.capacity == 0) return sendDirectlyTo(target)
    while (true) {
        target.reserve().use { place ->
            val element = receiveCatching()
            element.exceptionOrNull()?.let { throw it }
            if (element.isClosed) return
            place.send(element.getOrThrow())
        }
    }
}

private suspend fun <E> ReceiveChannel<E>.sendDirectlyTo(target: Channel<E>) {
    for (element in this) target.send(element)
}

/**
 * Sends what this channel receives to [target], one of kotlinx.coroutines, until this one is closed and drained. Neither is
 * closed. An element whose sending there is cancelled, or fails, has left this channel: kotlinx does not tell whether it
 * was taken, and hands it to its own `onUndeliveredElement`.
 */
public suspend fun <E> Channel<E>.sendTo(target: SendChannel<E>) {
    for (element in this) target.send(element)
}
