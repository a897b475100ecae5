@file:JvmSynthetic

package baton.channels

/** Returns the result of [attempt], or a closed result if it throws that the channel is closed. */
internal inline fun <T> unlessClosed(attempt: () -> ChannelResult<T>): ChannelResult<T> =
    try {
        attempt()
    } catch (e: ChannelClosedException) {
        ChannelResult.closed(e)
    }
