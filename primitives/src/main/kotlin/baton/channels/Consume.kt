@file:JvmName("Consumers")

package baton.channels

import kotlin.contracts.ExperimentalContracts
import kotlin.contracts.InvocationKind
import kotlin.contracts.contract

/**
 * Runs [block], and cancels this channel however [block] ends; if it throws, with the exception as the cause. So no
 * sender waits for a receiver that has left.
 */
@OptIn(ExperimentalContracts::class)
public inline fun <E, R> ReceiveChannel<E>.consume(block: ReceiveChannel<E>.() -> R): R {
    contract { callsInPlace(block, InvocationKind.EXACTLY_ONCE) }
    var failure: Throwable? = null
    try {
        return block()
    } catch (e: Throwable) {
        failure = e
        throw e
    } finally {
        cancel(failure)
    }
}

/**
 * Calls [action] with each element received, until the channel is closed and drained, and cancels the channel however
 * this ends, see [consume]. It ends as an iteration does, see [ChannelIterator]. Where several coroutines share the
 * elements of a channel, use `for` instead: the first that leaves would end them all.
 *
 * *Cancellation.* The channel is cancelled too, with the cancellation as its cause.
 */
public suspend inline fun <E> ReceiveChannel<E>.consumeEach(action: (E) -> Unit): Unit = consume {
    for (element in this) action(element)
}

/** Receives all elements until the channel is closed and drained, and returns them; otherwise as [consumeEach]. */
public suspend fun <E> ReceiveChannel<E>.toList(): List<E> = buildList { consumeEach { add(it) } }
