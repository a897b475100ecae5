package baton.interop

import baton.Priority
import baton.channels.Channel
import baton.channels.ChannelClosedException
import baton.channels.contract.ChannelFace
import baton.channels.contract.ChannelPlan
import baton.channels.contract.KotlinChannelFace
import baton.channels.contract.PlaceFace
import baton.priority
import java.util.concurrent.CompletableFuture
import java.util.concurrent.TimeoutException
import kotlin.coroutines.ContinuationInterceptor
import kotlin.time.Duration
import kotlin.time.toJavaDuration
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.asExecutor
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.future.await

/**
 * A grant before the cancellation of the coroutine counts: the element was sent, or was received and is in the future.
 */
private suspend fun <T> CompletableFuture<T>.awaitElement(): T =
    try {
        await()
    } catch (e: CancellationException) {
        if (!isDone || isCompletedExceptionally) throw e
        join()
    }

private suspend fun levelOr(priority: Priority?) = priority ?: currentCoroutineContext().priority

private suspend fun CompletableFuture<*>.inTime(): Boolean =
    try {
        awaitElement()
        true
    } catch (_: TimeoutException) {
        false
    }

/** Waits with futures. */
class JavaChannelFace(private val channel: AsyncChannel<String>) : ChannelFace {
    constructor(plan: ChannelPlan) : this(AsyncChannel.of(plan.build()))

    override val capacity: Int
        get() = channel.capacity()

    override val remainingCapacity: Int
        get() = channel.remainingCapacity()

    override val size: Int
        get() = channel.size()

    override val waiting: Int
        get() = channel.waiting()

    override val isClosed: Boolean
        get() = channel.isClosed && channel.isClosedForSend

    override val isClosedForReceive: Boolean
        get() = channel.isClosedForReceive

    override suspend fun send(element: String, priority: Priority?) {
        val level = levelOr(priority)
        (if (level == null) channel.send(element) else channel.send(element, level)).awaitElement()
    }

    override fun trySend(element: String, priority: Priority?) =
        if (priority == null) channel.trySend(element) else channel.trySend(element, priority)

    /** The timeout runs in real time. */
    override suspend fun trySend(element: String, timeout: Duration, priority: Priority?): Boolean {
        val level = levelOr(priority) ?: Priority.NORMAL
        return channel.send(element, level, timeout.toJavaDuration()).inTime()
    }

    override suspend fun receive(): String = channel.receive().awaitElement()

    override suspend fun receiveOrNull(): String? =
        try {
            receive()
        } catch (_: ChannelClosedException) {
            null
        }

    override suspend fun receiveUpTo(limit: Int): List<String> = channel.receiveUpTo(limit).awaitElement()

    override fun tryReceive(): String? = channel.tryReceive().orElse(null)

    /** The timeout runs in real time. */
    override suspend fun tryReceive(timeout: Duration): String? {
        val future = channel.receive(timeout.toJavaDuration())
        return if (future.inTime()) future.join() else null
    }

    override suspend fun reserve(): PlaceFace {
        val level = levelOr(null)
        return JavaPlace((if (level == null) channel.reserve() else channel.reserve(level)).awaitPermit())
    }

    override fun resize(capacity: Int) = channel.resize(capacity)

    override fun close(cause: Throwable?) = if (cause == null) channel.kotlin().close() else channel.close(cause)

    override fun cancel(cause: Throwable?) = if (cause == null) channel.cancel() else channel.cancel(cause)

    override fun toString() = channel.toString()
}

class JavaPlace(private val place: Reservation<String>) : PlaceFace {
    override fun send(element: String, priority: Priority?) =
        if (priority == null) place.send(element) else place.send(element, priority)

    override fun close() = place.close()

    override fun toString() = (if (place.isHeld) "open: " else "spent: ") + place
}

/**
 * Sends and receives that wait are clauses of a Java [Select]; reservations are not. Its sends have the level NORMAL.
 * The coroutine's dispatcher runs the function of a receive: until then the element can be returned to the channel, as
 * that of a coroutine can.
 */
class JavaSelectChannelFace(private val channel: AsyncChannel<String>) : ChannelFace by JavaChannelFace(channel) {
    private val idle = AsyncChannel.create<String>(0)

    constructor(plan: ChannelPlan) : this(AsyncChannel.of(plan.build()))

    override suspend fun send(element: String, priority: Priority?) {
        if (levelOr(priority) != null) return JavaChannelFace(channel).send(element, priority)
        Select.first<Unit>().onReceive(idle) {}.onSend(channel, element) {}.start().awaitElement()
    }

    override suspend fun receive(): String {
        tryReceive()?.let {
            return it
        }
        val executor = (currentCoroutineContext()[ContinuationInterceptor] as CoroutineDispatcher).asExecutor()
        return Select.first<String>().onReceive(idle) { it }.onReceive(channel) { it }.start(executor).awaitElement()
    }

    override suspend fun receiveOrNull(): String? =
        try {
            receive()
        } catch (_: ChannelClosedException) {
            null
        }

    override fun toString() = channel.toString()
}

/**
 * Suspend functions, futures and Java's select alternate, in one queue. Java's select does not send here: the element
 * of its clause enters the channel when the select runs, after the elements that were admitted together with it.
 */
class JavaKotlinChannelFace(channel: Channel<String>) : ChannelFace by KotlinChannelFace(channel) {
    constructor(plan: ChannelPlan) : this(plan.build())

    private val java = AsyncChannel.of(channel)
    private val senders = listOf(KotlinChannelFace(channel), JavaChannelFace(java))
    private val receivers = listOf(JavaSelectChannelFace(java)) + senders
    private var turn = 0

    private fun List<ChannelFace>.next() = this[turn++ % size]

    override suspend fun send(element: String, priority: Priority?) = senders.next().send(element, priority)

    override fun trySend(element: String, priority: Priority?) = senders.next().trySend(element, priority)

    override suspend fun receive() = receivers.next().receive()

    override suspend fun receiveOrNull() = receivers.next().receiveOrNull()

    override suspend fun receiveUpTo(limit: Int) = senders.next().receiveUpTo(limit)

    override fun tryReceive() = receivers.next().tryReceive()

    override suspend fun reserve() = senders.next().reserve()

    override fun toString() = java.toString()
}
