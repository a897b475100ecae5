package baton.channels

import baton.Priority
import java.util.concurrent.atomic.AtomicBoolean

/**
 * A place in a [Channel] that is kept for somebody, see [Channel.reserve]. It is used once: by [send], which never
 * waits, or by [close], which gives the place back. All members may be called from any thread.
 */
public class Reservation<E> internal constructor(
    private val channel: Channel<E>,
    private val level: Int,
) : AutoCloseable {
    private val spent = AtomicBoolean()

    /**
     * Sends [element] into the place, also when the channel was closed meanwhile. Under [ChannelOrder.PRIORITY] at the
     * level [priority]; without one, at that of the coroutine that reserved.
     *
     * @throws IllegalStateException if the place was used or given back before.
     * @throws ChannelClosedException if the channel was cancelled; the element was not taken.
     */
    public fun send(element: E, priority: Priority? = null) {
        check(spent.compareAndSet(false, true)) { "send to a place that was used or given back: $this" }
        val level = if (priority == null) level else channel.levelOf(priority)
        if (!channel.core.sendReserved(ChannelState.wrap(element), level)) throw channel.core.closedException()
    }

    /** Gives the place back if it was not used; a second time it does nothing. */
    override fun close() {
        if (spent.compareAndSet(false, true)) channel.core.leavePlace()
    }

    override fun toString(): String = "Reservation (${if (spent.get()) "spent" else "open"}) of $channel"
}
