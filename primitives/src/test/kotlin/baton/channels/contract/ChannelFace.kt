package baton.channels.contract

import baton.Priority
import baton.channels.Channel
import baton.channels.ChannelClosedException
import baton.channels.ChannelOrder
import baton.channels.OnFull
import baton.channels.Reservation
import kotlin.time.Duration

/**
 * A channel of strings as a contract sees it, over any of the APIs.
 * - A caller that waits is a coroutine; cancelling it withdraws the request. Over a future: cancel the future.
 * - A [send] that throws has sent nothing; a [receive] that throws has received nothing.
 * - A try returns false or null where it would have to wait, and throws [ChannelClosedException] where the channel is
 *   closed (for a receiver: and drained).
 * - An exception of an API arrives as itself, not wrapped.
 * - Under [ChannelOrder.PRIORITY], an element sent without a level has the level of the caller's coroutine context.
 */
interface ChannelFace {
    val capacity: Int

    val remainingCapacity: Int

    val size: Int

    val waiting: Int

    val isClosed: Boolean

    val isClosedForReceive: Boolean

    suspend fun send(element: String, priority: Priority? = null)

    fun trySend(element: String, priority: Priority? = null): Boolean

    /** In the virtual time of the calling coroutine, if the API has that. */
    suspend fun trySend(element: String, timeout: Duration, priority: Priority? = null): Boolean

    suspend fun receive(): String

    /** Null when the channel is closed and drained. */
    suspend fun receiveOrNull(): String?

    /** Empty when the channel is closed and drained. */
    suspend fun receiveUpTo(limit: Int): List<String>

    fun tryReceive(): String?

    /** As [trySend] with a timeout. */
    suspend fun tryReceive(timeout: Duration): String?

    suspend fun reserve(): PlaceFace

    fun resize(capacity: Int)

    fun close(cause: Throwable? = null): Boolean

    fun cancel(cause: Throwable? = null)

    /** Returns the channel's own string, or a text that contains it. */
    override fun toString(): String
}

/** A [Reservation]. */
interface PlaceFace : AutoCloseable {
    fun send(element: String, priority: Priority? = null)
}

/** The parameters of a test's channel. */
class ChannelPlan(
    val capacity: Int = Channel.RENDEZVOUS,
    val order: ChannelOrder = ChannelOrder.FIFO,
    val onFull: OnFull = OnFull.SUSPEND,
    val name: String? = null,
    val onDropped: ((String) -> Unit)? = null,
) {
    fun build(): Channel<String> = Channel(capacity, order, onFull, name, onDropped)
}

typealias ChannelFactory = (ChannelPlan) -> ChannelFace
