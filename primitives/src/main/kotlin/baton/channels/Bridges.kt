@file:JvmName("Channels")

package baton.channels

import kotlinx.coroutines.channels.ReceiveChannel
import kotlinx.coroutines.channels.SendChannel
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.FlowCollector

/**
 * A flow of what this channel receives, until it is closed and drained; it ends as an iteration does, see
 * [ChannelIterator]. Every collector takes elements from the same channel. One that stops early leaves the rest in it.
 *
 * *Cancellation.* Looked for before each element is received, also if that needs no waiting. An element that is
 * received is delivered: the collector is called with it, cancelled or not. What lies between the channel and the code
 * that is to see the element is another matter: `cancellable`, `buffer` and `flowOn` drop what they have in hand when
 * the collection is cancelled.
 */
public fun <E> Channel<E>.asFlow(): Flow<E> = ChannelFlow(this)

/** Not built by `flow { }`: that one looks for cancellation after an element has left the channel. */
private class ChannelFlow<E>(private val channel: Channel<E>) : Flow<E> {
    override suspend fun collect(collector: FlowCollector<E>) {
        val elements = channel.iterator()
        while (true) {
            currentCoroutineContext().ensureActive()
            if (!elements.hasNext()) return
            collector.emit(elements.next())
        }
    }
}

/**
 * Sends what this flow emits to [target], waiting for a place each time, and closes neither.
 *
 * @throws ChannelClosedException if [target] is closed; the flow's collection ends then.
 */
public suspend fun <E> Flow<E>.sendTo(target: Channel<E>) {
    collect { target.send(it) }
}

/**
 * Sends what this channel of kotlinx.coroutines receives to [target], until this one is closed. Neither is closed.
 *
 * Nothing can be put back into this channel. So a place in [target] is waited for first, and kept while this channel
 * has nothing: whoever is cancelled meanwhile has taken nothing out of it. (What kotlinx hands out in the moment of a
 * cancellation goes to its own `onUndeliveredElement`.) Where [target] has a capacity of 0 there is no place to keep,
 * and an element that was taken out waits for its receiver.
 *
 * @param onUndelivered gets the element that was taken out and that [target] did not take: because the wait for a
 *   receiver was cancelled, or [target] closed in the meantime. What it throws is suppressed in that reason.
 * @throws ChannelClosedException if [target] is closed.
 */
public suspend fun <E> ReceiveChannel<E>.sendTo(target: Channel<E>, onUndelivered: (E) -> Unit) {
    while (true) {
        val place = if (target.capacity > 0) target.reserve() else null
        place.use {
            val result = receiveCatching()
            result.exceptionOrNull()?.let { throw it }
            if (result.isClosed) return
            val element = result.getOrThrow()
            try {
                if (place == null) target.send(element) else place.send(element)
            } catch (e: Throwable) {
                try {
                    onUndelivered(element)
                } catch (failure: Throwable) {
                    if (failure !== e) e.addSuppressed(failure)
                }
                throw e
            }
        }
    }
}

/**
 * Sends what this channel receives to [target], one of kotlinx.coroutines, until this one is closed and drained.
 * Neither is closed. An element whose sending there is cancelled, or fails, has left this channel: kotlinx does not
 * tell whether it was taken, and hands it to its own `onUndeliveredElement`.
 */
public suspend fun <E> Channel<E>.sendTo(target: SendChannel<E>) {
    for (element in this) target.send(element)
}
