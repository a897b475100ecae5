package baton.channels.contract

import baton.Priority
import baton.channels.Channel
import baton.channels.ChannelResult
import baton.channels.ReceiveChannel
import baton.channels.Reservation
import baton.channels.SendChannel
import baton.channels.producerScope
import baton.channels.receiveOrNull
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.time.Duration
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.selects.onTimeout
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.withContext

/** The suspend functions. */
class KotlinChannelFace(private val channel: Channel<String>) : ChannelFace {
    constructor(plan: ChannelPlan) : this(plan.build())

    override val capacity: Int
        get() = channel.capacity

    override val remainingCapacity: Int
        get() = channel.remainingCapacity

    override val size: Int
        get() = channel.size

    override val waiting: Int
        get() = channel.waiting

    override val isClosed: Boolean
        get() = channel.isClosed && channel.isClosedForSend

    override val isClosedForReceive: Boolean
        get() = channel.isClosedForReceive

    override suspend fun send(element: String, priority: Priority?) = channel.send(element, priority)

    override fun trySend(element: String, priority: Priority?) = channel.trySend(element, priority).orThrow().isSuccess

    override suspend fun trySend(element: String, timeout: Duration, priority: Priority?) =
        channel.trySend(element, timeout, priority).orThrow().isSuccess

    override suspend fun receive() = channel.receive()

    override suspend fun receiveOrNull() = channel.receiveOrNull()

    override suspend fun receiveUpTo(limit: Int) = channel.receiveUpTo(limit)

    override fun tryReceive() = channel.tryReceive().orThrow().getOrNull()

    override suspend fun tryReceive(timeout: Duration) = channel.tryReceive(timeout).orThrow().getOrNull()

    override suspend fun reserve(): PlaceFace = KotlinPlace(channel.reserve())

    override fun resize(capacity: Int) = channel.resize(capacity)

    override fun close(cause: Throwable?) = channel.close(cause)

    override fun cancel(cause: Throwable?) = channel.cancel(cause)

    override fun toString() = channel.toString()
}

private fun <T> ChannelResult<T>.orThrow() = also { if (isClosed) getOrThrow() }

class KotlinPlace(private val place: Reservation<String>) : PlaceFace {
    override fun send(element: String, priority: Priority?) = place.send(element, priority)

    override fun close() = place.close()

    override fun toString() = place.toString()
}

/** The interfaces of the two sides; of the sending side the scope of a producer, which delegates to the channel. */
class ViewChannelFace(private val channel: Channel<String>) : ChannelFace by KotlinChannelFace(channel) {
    constructor(plan: ChannelPlan) : this(plan.build())

    private val target: SendChannel<String> = producerScope(CoroutineScope(EmptyCoroutineContext), channel)
    private val source: ReceiveChannel<String> = channel

    override val capacity: Int
        get() = target.capacity

    override val remainingCapacity: Int
        get() = target.remainingCapacity

    override val isClosed: Boolean
        get() = target.isClosedForSend

    override val isClosedForReceive: Boolean
        get() = source.isClosedForReceive

    override suspend fun send(element: String, priority: Priority?) =
        if (priority == null) target.send(element) else target.send(element, priority)

    override fun trySend(element: String, priority: Priority?): Boolean {
        val result = if (priority == null) target.trySend(element) else target.trySend(element, priority)
        return result.orThrow().isSuccess
    }

    override suspend fun trySend(element: String, timeout: Duration, priority: Priority?) =
        target.trySend(element, timeout, priority).orThrow().isSuccess

    override suspend fun receive() = source.receive()

    override suspend fun receiveOrNull() = source.receiveOrNull()

    override suspend fun receiveUpTo(limit: Int) = source.receiveUpTo(limit)

    override fun tryReceive() = source.tryReceive().orThrow().getOrNull()

    override suspend fun tryReceive(timeout: Duration) = source.tryReceive(timeout).orThrow().getOrNull()

    override suspend fun reserve(): PlaceFace = KotlinPlace(target.reserve())

    override fun close(cause: Throwable?) = target.close(cause)

    override fun cancel(cause: Throwable?) = source.cancel(cause)

    override fun toString() = channel.toString()
}

/** All calls that wait, except reservations, wait in a `select`. */
class SelectChannelFace(private val channel: Channel<String>) : ChannelFace by KotlinChannelFace(channel) {
    constructor(plan: ChannelPlan) : this(plan.build())

    override suspend fun send(element: String, priority: Priority?) =
        if (priority == null) sendInSelect(element) else withContext(priority) { sendInSelect(element) }

    private suspend fun sendInSelect(element: String) = select<Unit> { channel.onSend(element) {} }

    override suspend fun trySend(element: String, timeout: Duration, priority: Priority?): Boolean =
        if (priority == null) {
            trySendInSelect(element, timeout)
        } else {
            withContext(priority) { trySendInSelect(element, timeout) }
        }

    private suspend fun trySendInSelect(element: String, timeout: Duration): Boolean = select {
        channel.onSend(element) { true }
        onTimeout(timeout) { false }
    }

    override suspend fun receive(): String = select { channel.onReceive { it } }

    override suspend fun receiveOrNull(): String? = select { channel.onReceiveCatching { it.getOrNull() } }

    override suspend fun tryReceive(timeout: Duration): String? = select {
        channel.onReceive { it }
        onTimeout(timeout) { null }
    }

    override fun toString() = channel.toString()
}

/** Suspend functions and `select` alternate, in one queue. */
class MixedChannelFace(private val channel: Channel<String>) : ChannelFace by KotlinChannelFace(channel) {
    constructor(plan: ChannelPlan) : this(plan.build())

    private val faces = listOf(KotlinChannelFace(channel), SelectChannelFace(channel))
    private var turn = 0

    private fun next() = faces[turn++ % faces.size]

    override suspend fun send(element: String, priority: Priority?) = next().send(element, priority)

    override suspend fun trySend(element: String, timeout: Duration, priority: Priority?) =
        next().trySend(element, timeout, priority)

    override suspend fun receive() = next().receive()

    override suspend fun receiveOrNull() = next().receiveOrNull()

    override suspend fun tryReceive(timeout: Duration) = next().tryReceive(timeout)

    override fun toString() = channel.toString()
}
