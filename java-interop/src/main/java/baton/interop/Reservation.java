package baton.interop;

import baton.Priority;
import baton.channels.ChannelClosedException;
import org.jspecify.annotations.Nullable;

/**
 * A place in a channel that is kept for whoever has this, see {@link AsyncChannel#reserve()}. It is used once: by
 * {@code send}, which never waits, or by {@link #close()}, which gives the place back.
 */
public interface Reservation<T extends @Nullable Object> extends Permit {
    /**
     * Sends into the place, also when the channel was closed meanwhile; at the level of the reservation.
     *
     * @throws IllegalStateException if the place was used or given back before
     * @throws ChannelClosedException if the channel was cancelled; the element was not taken
     */
    void send(T element);

    /**
     * As {@link #send(Object)}, at another level.
     *
     * @throws IllegalStateException if the place was used or given back before
     * @throws ChannelClosedException if the channel was cancelled; the element was not taken
     */
    void send(T element, Priority priority);

    /** Gives the place back if it was not used. */
    @Override
    void close();
}
