package baton.interop;

import baton.channels.Channel;
import baton.channels.ChannelClosedException;
import baton.channels.ChannelOrder;
import baton.channels.OnFull;
import baton.interop.internal.futures.CallerContext;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Function;
import kotlin.Unit;
import org.jspecify.annotations.Nullable;

/**
 * The part of {@link AsyncChannel} and {@link BlockingChannel} that passes no elements: the state of the channel, its capacity and its end.
 *
 * <p>It is not in a package of the internals: Kotlin's compiler refuses calls to methods of a package that the module
 * does not export.
 */
abstract class ChannelControl<T extends @Nullable Object> {
    final Channel<T> channel;

    ChannelControl(Channel<T> channel) {
        this.channel = channel;
    }

    /** The number of elements that can be received now, without those of waiting senders. */
    public int size() {
        return channel.getSize();
    }

    /** The order in which elements are received and senders are served. */
    public ChannelOrder order() {
        return channel.getOrder();
    }

    /** The handling of an element that is sent while there is no place for it. */
    public OnFull onFull() {
        return channel.getOnFull();
    }

    /** The number of elements for which there is room. */
    public int capacity() {
        return channel.getCapacity();
    }

    /** The number of requests that wait to send, to reserve or to receive, of Java and Kotlin callers. */
    public int waiting() {
        return channel.getWaiting();
    }

    /** How many places are free and not reserved, at least 0; 0 without a buffer, also while a receiver waits. */
    public int remainingCapacity() {
        return channel.getRemainingCapacity();
    }

    /** The same as {@link #isClosedForSend()}. */
    public boolean isClosed() {
        return channel.isClosed();
    }

    /** Whether nothing can be sent any more. There may still be elements to receive. */
    public boolean isClosedForSend() {
        return channel.isClosedForSend();
    }

    /**
     * Whether nothing can be received any more: the channel is closed, and all its elements have reached their receivers,
     * or it was cancelled.
     */
    public boolean isClosedForReceive() {
        return channel.isClosedForReceive();
    }

    /**
     * Changes the capacity. A greater one grants places to waiting senders; a smaller one drops no element.
     *
     * @throws IllegalArgumentException if {@code capacity} is negative
     * @throws ChannelClosedException if the channel is closed
     */
    public void resize(int capacity) {
        channel.resize(capacity);
    }

    /**
     * Ends the sending: waiting and later sends fail with {@link ChannelClosedException}. The elements inside can be
     * received; after them, receivers fail too.
     */
    public void close() {
        channel.close(null);
    }

    /** As {@link #close()}, with a cause for the exceptions; returns whether this call closed it. */
    public boolean close(Throwable cause) {
        return channel.close(Objects.requireNonNull(cause, "cause"));
    }

    /** As {@link #close()}, and drops the elements inside. Iterations and publishers end as after a close. */
    public void cancel() {
        channel.cancel(null);
    }

    /** As {@link #cancel()}, with a cause for the exceptions. */
    public void cancel(Throwable cause) {
        channel.cancel(Objects.requireNonNull(cause, "cause"));
    }

    /**
     * Calls {@code handler} once, when the channel is closed or cancelled, with the cause given to that call, or null;
     * at once if it is closed already. There may still be elements to receive then.
     *
     * <p>The handler runs on the thread that closes the channel or registers the handler, under no lock, and must
     * neither block nor take long. Its exceptions go to the thread's handler for uncaught exceptions. Several handlers
     * run in the order of their registration.
     *
     * @return an action that removes the handler, if it has not run; for a caller that ends before the channel does
     */
    public Runnable invokeOnClose(Consumer<? super @Nullable Throwable> handler) {
        Objects.requireNonNull(handler, "handler");
        Function<? super @Nullable Throwable, ? extends Unit> inContext = CallerContext.function(cause -> {
            handler.accept(cause);
            return Unit.INSTANCE;
        });
        return channel.invokeOnClose(inContext::apply)::dispose;
    }

    @Override
    public String toString() {
        return "Async" + channel;
    }
}
