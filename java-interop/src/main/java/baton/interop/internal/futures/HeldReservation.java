package baton.interop.internal.futures;

import baton.Priority;
import baton.bridge.ChannelBridge;
import baton.channels.Channel;
import baton.interop.Reservation;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A reserved place in a channel. */
public final class HeldReservation<T extends @Nullable Object> extends HeldPermit implements Reservation<T> {
    private final Channel<T> channel;
    private final int level;

    public HeldReservation(Channel<T> channel, int level) {
        this.channel = channel;
        this.level = level;
    }

    @Override
    public void send(T element) {
        send(element, level);
    }

    @Override
    public void send(T element, Priority priority) {
        send(element, ChannelBridge.levelOf(channel, Objects.requireNonNull(priority, "priority")));
    }

    private void send(T element, int level) {
        Object wrapped = ChannelBridge.wrap(element);
        if (!markClosed()) throw new IllegalStateException("send to a place that was used or given back: " + this);
        ChannelBridge.sendReserved(channel, wrapped, level);
    }

    @Override
    void releaseHeld() {
        ChannelBridge.leavePlace(channel);
    }

    @Override
    String describe() {
        return "place in " + channel;
    }
}
