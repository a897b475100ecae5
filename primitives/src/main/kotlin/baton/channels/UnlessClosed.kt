@file:JvmSynthetic

package baton.channels

import kotlinx.coroutines.CancellationException

/**
 * The exception with which an iteration that has met [closed] ends; null if it ends normally. Not a
 * CancellationException, which would silently end a coroutine that was not cancelled.
 */
internal fun endOf(closed: Throwable): Throwable? = closed.cause.let { if (it is CancellationException) closed else it }

/** Returns the result of [attempt], or a closed result if it throws that the channel is closed. */
internal inline fun <T> unlessClosed(attempt: () -> ChannelResult<T>): ChannelResult<T> =
    try {
        attempt()
    } catch (e: ChannelClosedException) {
        ChannelResult.closed(e)
    }
