package baton.interop;

import baton.Priority;
import baton.channels.ChannelClosedException;
import org.jspecify.annotations.Nullable;

/**
 * A place in a channel that is reserved for the holder of this object, see {@link AsyncChannel#reserve()}. It is used
 * once: by {@code send}, which never waits, or by {@link #close()}, which returns the place to the channel.
 */
public interface Reservation<T extends @Nullable Object> extends Permit {
    /**
     * Sends into the place, at the level of the reservation, even if the channel was closed meanwhile.
     *
     * @throws IllegalStateException if the place was used or returned before
     * @throws ChannelClosedException if the channel was cancelled; the element was not taken
     */
    void send(T element);

    /**
     * As {@link #send(Object)}, at another level.
     *
     * @throws IllegalStateException if the place was used or returned before
     * @throws ChannelClosedException if the channel was cancelled; the element was not taken
     */
    void send(T element, Priority priority);

    /** Returns the place to the channel if it was not used. */
    @Override
    void close();
}
