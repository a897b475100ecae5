@file:JvmName("Channels")

package baton.channels

import java.util.concurrent.atomic.AtomicBoolean
import kotlinx.coroutines.channels.ReceiveChannel as KotlinxReceiveChannel
import kotlinx.coroutines.channels.SendChannel as KotlinxSendChannel
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.FlowCollector

/**
 * A flow of the elements received from this channel, until it is closed and drained; it ends as an iteration does, see
 * [ChannelIterator]. All collectors take elements from the same channel. A collector that stops early leaves the rest
 * in the channel.
 *
 * *Cancellation.* Checked before each element is received, also if that needs no waiting. A received element is
 * delivered: the collector is called with it, cancelled or not. Operators between the channel and the collector may
 * still lose it: `cancellable`, `buffer` and `flowOn` drop their current elements when the collection is cancelled.
 */
public fun <E> ReceiveChannel<E>.asFlow(): Flow<E> = ChannelFlow(this)

/** The same as [asFlow], by the name that kotlinx.coroutines gives it. */
public fun <E> ReceiveChannel<E>.receiveAsFlow(): Flow<E> = asFlow()

/**
 * As [asFlow], for one collector, which consumes the channel: however its collection ends, the channel is cancelled,
 * see [consume]. So no sender waits for a collector that has left, and no second collector waits for the elements of
 * the first.
 *
 * *Misuse.* A second collection, also after the end of the first, throws [IllegalStateException], and changes nothing.
 */
public fun <E> ReceiveChannel<E>.consumeAsFlow(): Flow<E> = ConsumedFlow(this)

private class ConsumedFlow<E>(private val channel: ReceiveChannel<E>) : Flow<E> {
    private val isCollected = AtomicBoolean()

    override suspend fun collect(collector: FlowCollector<E>) {
        check(!isCollected.getAndSet(true)) { "a second collection of consumeAsFlow() of $channel" }
        channel.consume { asFlow().collect(collector) }
    }
}

/** Not built by `flow { }`, which checks for cancellation after an element has left the channel. */
private class ChannelFlow<E>(private val channel: ReceiveChannel<E>) : Flow<E> {
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
 * Sends the elements of this flow to [target], waiting for a place each time. Does not close [target].
 *
 * @throws ChannelClosedException if [target] is closed; the flow's collection ends then.
 */
public suspend fun <E> Flow<E>.sendTo(target: SendChannel<E>) {
    collect { target.send(it) }
}

/**
 * Sends the elements of this channel of kotlinx.coroutines to [target], until this one is closed. Closes neither.
 *
 * An element cannot be returned to this channel. So the call first reserves a place in [target], and keeps it while
 * this channel is empty: if the caller is cancelled meanwhile, it has not taken an element out. (An element that
 * kotlinx hands over at the moment of the cancellation goes to its own `onUndeliveredElement`.) If [target] has a
 * capacity of 0 there is no place to reserve, and an element that was taken out waits for its receiver.
 *
 * @param onUndelivered gets an element that was taken out of this channel and that [target] did not take, because the
 *   wait for a receiver was cancelled or [target] was closed meanwhile. Its exception is suppressed in that one.
 * @throws ChannelClosedException if [target] is closed.
 */
public suspend fun <E> KotlinxReceiveChannel<E>.sendTo(target: SendChannel<E>, onUndelivered: (E) -> Unit) {
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
 * Sends the elements of this channel to [target], a channel of kotlinx.coroutines, until this one is closed and
 * drained. Closes neither. An element whose send to [target] is cancelled, or fails, has left this channel: kotlinx
 * does not report whether [target] took it, and hands it to the `onUndeliveredElement` of [target].
 */
public suspend fun <E> ReceiveChannel<E>.sendTo(target: KotlinxSendChannel<E>) {
    for (element in this) target.send(element)
}
