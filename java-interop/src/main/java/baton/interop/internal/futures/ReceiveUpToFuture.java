package baton.interop.internal.futures;

import baton.bridge.ChannelBridge;
import baton.channels.Channel;
import baton.channels.ChannelClosedException;
import baton.waiting.Waiter;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** The future of a {@code receiveUpTo}: a receiver of one element, which takes the others when it has that one. */
public final class ReceiveUpToFuture<T extends @Nullable Object> extends WaiterFuture<List<T>> {
    private final Channel<T> channel;
    private final int limit;

    private ReceiveUpToFuture(Channel<T> channel, int limit) {
        super(ChannelBridge.of(channel), 0, ChannelBridge.RECEIVE, null, null);
        this.channel = channel;
        this.limit = limit;
    }

    /** Receives at once what is there, else enqueues. */
    public static <T extends @Nullable Object> CompletableFuture<List<T>> receive(Channel<T> channel, int limit) {
        try {
            Object elements = ChannelBridge.pollUpTo(channel, limit);
            if (elements != ChannelBridge.EMPTY) return CompletableFuture.completedFuture(listOf(elements));
        } catch (ChannelClosedException e) {
            Throwable end = ChannelBridge.endOf(e);
            return end == null ? CompletableFuture.completedFuture(List.of()) : CompletableFuture.failedFuture(end);
        }
        ReceiveUpToFuture<T> future = new ReceiveUpToFuture<>(channel, limit);
        future.start(null, null);
        return future;
    }

    /** The elements of a channel of T. */
    @SuppressWarnings("unchecked") // the channel takes elements of T only
    public static <T extends @Nullable Object> List<T> listOf(Object elements) {
        return (List<T>) elements;
    }

    @Override
    List<T> granted(Waiter granted) {
        return listOf(ChannelBridge.receivedUpTo(channel, granted, limit));
    }

    @Override
    void failed(Throwable why) {
        Throwable end = ChannelBridge.endOf(why);
        if (end == null) succeed(List.of());
        else fail(end);
    }
}
