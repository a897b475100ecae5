package baton.interop.internal.futures;

import baton.Priority;
import baton.bridge.ChannelBridge;
import baton.channels.Channel;
import baton.channels.ChannelClosedException;
import baton.interop.AsyncChannel;
import baton.interop.Reservation;
import baton.waiting.WaitCore;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The requests behind the overloads of {@link AsyncChannel}. Without a timeout a request waits as long as it takes;
 * without a priority it has the normal one.
 */
public final class ChannelRequests<T extends @Nullable Object> {
    private final Channel<T> channel;
    private final WaitCore core;

    public ChannelRequests(Channel<T> channel) {
        this.channel = channel;
        this.core = ChannelBridge.of(channel);
    }

    public CompletableFuture<@Nullable Void> send(
            T element, @Nullable Priority priority, @Nullable Duration timeout, @Nullable Executor executor) {
        Object wrapped = ChannelBridge.wrap(element);
        int level = ChannelBridge.levelOf(channel, priority);
        try {
            if (ChannelBridge.offer(channel, wrapped, level)) return CompletableFuture.completedFuture(null);
        } catch (ChannelClosedException e) {
            return CompletableFuture.failedFuture(e);
        }
        Supplier<TimeoutException> late = timeout == null ? null : () -> Late.send(timeout, channel);
        return WaiterFuture.enqueue(core, level, wrapped, null, executor, timeout, late);
    }

    public CompletableFuture<Reservation<T>> reserve(@Nullable Priority priority, @Nullable Duration timeout) {
        int level = ChannelBridge.levelOf(channel, priority);
        if (channel.getCapacity() == 0) return CompletableFuture.failedFuture(withoutPlaces());
        HeldReservation<T> reservation = new HeldReservation<>(channel, level);
        try {
            if (ChannelBridge.reserve(channel)) {
                reservation.handedOut();
                return CompletableFuture.completedFuture(reservation);
            }
        } catch (ChannelClosedException e) {
            return CompletableFuture.failedFuture(e);
        }
        Supplier<TimeoutException> late = timeout == null ? null : () -> Late.reserve(timeout, channel);
        return WaiterFuture.enqueue(core, level, ChannelBridge.PLACE, reservation, null, timeout, late);
    }

    /** A place, or null if there is none now; throws if the channel is closed, or has no places. */
    public @Nullable Reservation<T> tryReserve(int level) {
        if (channel.getCapacity() == 0) throw withoutPlaces();
        HeldReservation<T> reservation = new HeldReservation<>(channel, level); // before it has a place to lose
        if (!ChannelBridge.reserve(channel)) return null;
        reservation.handedOut();
        return reservation;
    }

    private IllegalStateException withoutPlaces() {
        return new IllegalStateException("reserve with capacity = 0, must be at least 1: " + channel);
    }

    public CompletableFuture<T> receive(@Nullable Duration timeout, @Nullable Executor executor) {
        try {
            Object element = ChannelBridge.poll(channel);
            if (element != ChannelBridge.EMPTY) return CompletableFuture.completedFuture(unwrap(element));
        } catch (ChannelClosedException e) {
            return CompletableFuture.failedFuture(e);
        }
        Supplier<TimeoutException> late = timeout == null ? null : () -> Late.receive(timeout, channel);
        return WaiterFuture.enqueue(core, 0, ChannelBridge.RECEIVE, null, executor, timeout, late);
    }

    @SuppressWarnings("unchecked") // the channel takes elements of T only
    public T unwrap(Object element) {
        return (T) ChannelBridge.unwrap(element);
    }
}
