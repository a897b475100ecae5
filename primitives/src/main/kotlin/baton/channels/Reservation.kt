package baton.channels

import baton.Priority
import baton.channels.core.ChannelState
import java.util.concurrent.atomic.AtomicBoolean

/**
 * A reserved place in a [Channel], see [Channel.reserve]. It is used once: by [send], which never waits, or by [close],
 * which returns the place. All members may be called from any thread.
 *
 * ```
 * channel.reserve().use { place -> place.send(source.poll()) }
 * ```
 */
public class Reservation<in E> internal constructor(private val channel: Channel<E>, private val level: Int) :
    AutoCloseable {
    private val isUsed = AtomicBoolean()

    /**
     * Sends [element] to the place, also if the channel was closed meanwhile. Under [ChannelOrder.PRIORITY] it is sent
     * at the level [priority]; without one, at the level of the coroutine that made the reservation.
     *
     * @throws IllegalStateException if the place was used or returned before.
     * @throws ChannelClosedException if the channel was cancelled; the element was not taken.
     */
    public fun send(element: E, priority: Priority? = null) {
        check(isUsed.compareAndSet(false, true)) { "send to a place that was used or given back: $this" }
        val level = if (priority == null) level else channel.levelOf(priority)
        if (!channel.core.sendReserved(ChannelState.wrap(element), level)) throw channel.core.closedException()
    }

    /** Returns the place if it was not used; does nothing otherwise. */
    override fun close() {
        if (isUsed.compareAndSet(false, true)) channel.core.leavePlace()
    }

    override fun toString(): String = "Reservation (${if (isUsed.get()) "spent" else "open"}) of $channel"
}
