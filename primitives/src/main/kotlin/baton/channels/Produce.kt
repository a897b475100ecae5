@file:JvmName("Producers")

package baton.channels

import baton.waiting.Wakeup
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Job
import kotlinx.coroutines.async
import kotlinx.coroutines.coroutineScope

/**
 * Launches a coroutine that sends to a new channel, and returns the receiving side of that channel.
 *
 * ```
 * val pages = scope.produce(capacity = 10) {
 *     for (url in urls) send(fetch(url))
 * }
 * for (page in pages) index(page)
 * ```
 *
 * *End.* The channel is closed when [block] and all coroutines launched in it have ended: without a cause if they
 * returned, with their exception if they failed. That exception also fails this scope, as that of `async` does.
 * Elements in the buffer can still be received.
 *
 * *Cancellation.* [ReceiveChannel.cancel], also that of [consume], [consumeEach] and [toList], cancels the coroutine. A
 * producer that is cancelled so ends quietly: a [ChannelClosedException] with which its sends fail then is dropped, and
 * this scope goes on. Any other exception, of a `finally` for example, fails this scope. If this scope or the coroutine
 * is cancelled, the channel is closed with the cancellation as its cause; receivers get that in a
 * [ChannelClosedException], because they do not have all elements.
 *
 * @param context is added to that of this scope, as for `launch`.
 * @param capacity as for [Channel], as all other parameters. Conflated is a capacity of 1 with [OnFull.DROP_OLDEST].
 * @throws IllegalArgumentException if [capacity] is negative; nothing was launched.
 */
public fun <E> CoroutineScope.produce(
    context: CoroutineContext = EmptyCoroutineContext,
    capacity: Int = Channel.RENDEZVOUS,
    order: ChannelOrder = ChannelOrder.FIFO,
    onFull: OnFull = OnFull.SUSPEND,
    name: String? = null,
    onDropped: ((E) -> Unit)? = null,
    block: suspend ProducerScope<E>.() -> Unit,
): ReceiveChannel<E> {
    val channel = Channel(capacity, order, onFull, name, onDropped)
    // Not `launch`: a failure is reported through the channel, and needs no handler for uncaught exceptions.
    val producer = async(context, CoroutineStart.LAZY) { runProducer(channel, block) }
    channel.core.onCancel = ProducerCancellation(producer)
    producer.invokeOnCompletion { failure -> channel.close(failure) }
    producer.start()
    return channel
}

/** The scope of its own catches the refused sends of coroutines that [block] has launched. */
private suspend fun <E> runProducer(channel: Channel<E>, block: suspend ProducerScope<E>.() -> Unit) {
    try {
        coroutineScope { producerScope(this, channel).block() }
    } catch (e: ChannelClosedException) {
        if (!channel.core.isCancelled || e.hidesAFailure()) throw e
    }
}

/** Whether code that ended because of this has failed for another reason. kotlinx's debug mode throws a copy of it. */
private fun ChannelClosedException.hidesAFailure(): Boolean =
    listOfNotNull(this, cause as? ChannelClosedException).any { refusal ->
        refusal.suppressedExceptions.any { it !is ChannelClosedException && it !is CancellationException }
    }

/** Cancels the producer before its waiting senders are resumed. */
private class ProducerCancellation(private val producer: Job) : Wakeup() {
    override fun arrive(): Wakeup? {
        producer.cancel(null)
        return null
    }
}

@JvmSynthetic
internal fun <E> producerScope(scope: CoroutineScope, channel: Channel<E>): ProducerScope<E> =
    ChannelProducerScope(scope, channel)

private class ChannelProducerScope<E>(scope: CoroutineScope, override val channel: Channel<E>) :
    ProducerScope<E>, CoroutineScope by scope, SendChannel<E> by channel {
    override fun toString(): String = "ProducerScope of $channel"
}
