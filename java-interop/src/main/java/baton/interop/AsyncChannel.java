package baton.interop;

import baton.Priority;
import baton.bridge.ChannelBridge;
import baton.channels.Channel;
import baton.channels.ChannelClosedException;
import baton.channels.ChannelOrder;
import baton.channels.OnFull;
import baton.interop.internal.futures.ChannelRequests;
import baton.interop.internal.futures.ChannelSubscriber;
import baton.interop.internal.futures.ChannelSubscription;
import baton.interop.internal.futures.ForEachFuture;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A {@link Channel} for Java: hands elements from those who send to those who receive, each element to one of them,
 * with room for {@link #capacity()} elements in between. What waits returns a {@link CompletableFuture}.
 *
 * <p>It has no state of its own: Java futures, Kotlin coroutines, {@code select} clauses, {@link Select}s and
 * subscribers that use the same channel stand in the same lines. No method blocks; who wants to block calls
 * {@code join()}.
 *
 * <p><i>Order.</i> See {@link ChannelOrder}; receivers are served first come, first served, and so are senders, by
 * priority those of one level. The level is {@link Priority#NORMAL} where none is given.
 *
 * <p><i>Cancellation.</i> Cancelling a future, completing it from outside, or letting {@code orTimeout} expire
 * withdraws the request, and no element is lost: whoever comes too late finds a future of {@code receive} completed
 * with the element it was handed. A future of {@code send} fails if and only if the element was not taken: too late, it
 * completes normally. Stages derived from them withdraw nothing. A future that nobody reads keeps the element it
 * received, or its place; {@link LeakReport} finds such places.
 *
 * <p><i>CallbackExecutor.</i> As for {@link AsyncSemaphore}: run by whoever sends, receives or closes, unless an executor is
 * given.
 *
 * <p><i>End.</i> After {@link #close()} nothing can be sent; what is inside can be received, and then receivers get
 * {@link ChannelClosedException}. {@link #cancel()} also throws away what is inside.
 *
 * <p><i>Memory.</i> What happens before an element is sent happens before whatever follows its receipt.
 *
 * <p>Elements may be null where a method does not say otherwise.
 */
public final class AsyncChannel<T extends @Nullable Object> {
    private final Channel<T> channel;
    private final ChannelRequests<T> requests;

    private AsyncChannel(Channel<T> channel) {
        this.channel = channel;
        this.requests = new ChannelRequests<>(channel);
    }

    /** The Java face of that very channel. */
    public static <T extends @Nullable Object> AsyncChannel<T> of(Channel<T> channel) {
        return new AsyncChannel<>(Objects.requireNonNull(channel, "channel"));
    }

    /**
     * A new channel, first sent first received, where senders wait for a place.
     *
     * @param capacity how many elements it holds for nobody waiting; with 0 senders and receivers meet
     * @throws IllegalArgumentException if {@code capacity} is negative
     */
    public static <T extends @Nullable Object> AsyncChannel<T> create(int capacity) {
        return create(capacity, ChannelOrder.FIFO, OnFull.SUSPEND, null);
    }

    /**
     * A new channel.
     *
     * @param name shown by messages and {@code toString}, or null
     * @throws IllegalArgumentException if {@code capacity} is negative
     */
    public static <T extends @Nullable Object> AsyncChannel<T> create(
            int capacity, ChannelOrder order, OnFull onFull, @Nullable String name) {
        return make(capacity, order, onFull, name, null);
    }

    /**
     * A new channel.
     *
     * @param name shown by messages and {@code toString}, or null
     * @param onDropped gets what was taken and will not be received, because it was dropped or the channel cancelled.
     *     It runs where that happened, under no lock; what it throws goes to the thread's handler for uncaught
     *     exceptions
     * @throws IllegalArgumentException if {@code capacity} is negative
     */
    public static <T extends @Nullable Object> AsyncChannel<T> create(
            int capacity, ChannelOrder order, OnFull onFull, @Nullable String name, Consumer<? super T> onDropped) {
        return make(capacity, order, onFull, name, Objects.requireNonNull(onDropped, "onDropped"));
    }

    private static <T extends @Nullable Object> AsyncChannel<T> make(
            int capacity,
            ChannelOrder order,
            OnFull onFull,
            @Nullable String name,
            @Nullable Consumer<? super T> onDropped) {
        Objects.requireNonNull(order, "order");
        Objects.requireNonNull(onFull, "onFull");
        return of(ChannelBridge.<T>channelOf(capacity, order, onFull, name, onDropped));
    }

    /** The channel behind this face. */
    public Channel<T> kotlin() {
        return channel;
    }

    // ---- to send

    /**
     * A future that completes when the element was taken. It fails with {@link ChannelClosedException} if the channel
     * is closed, before or meanwhile. kotlinx's {@code await()} on the future cancels it when the awaiting coroutine is
     * cancelled, and that withdraws the send.
     */
    public CompletableFuture<@Nullable Void> send(T element) {
        return requests.send(element, null, null, null);
    }

    /** As {@link #send(Object)}, at a level that counts where the order is {@link ChannelOrder#PRIORITY}. */
    public CompletableFuture<@Nullable Void> send(T element, Priority priority) {
        return requests.send(element, Objects.requireNonNull(priority, "priority"), null, null);
    }

    /**
     * As {@link #send(Object)}; when it had to wait, the future is completed on {@code executor}, and by whoever makes
     * room if that rejects it.
     */
    public CompletableFuture<@Nullable Void> send(T element, Executor executor) {
        return requests.send(element, null, null, Objects.requireNonNull(executor, "executor"));
    }

    /**
     * As {@link #send(Object)}, but fails with {@link TimeoutException} if the element was not taken in time; it will
     * not be then. Zero and less mean now or not at all. The timeout is rounded up to whole milliseconds.
     */
    public CompletableFuture<@Nullable Void> send(T element, Duration timeout) {
        return requests.send(element, null, Objects.requireNonNull(timeout, "timeout"), null);
    }

    /**
     * As {@link #send(Object, Duration)}, at a level that counts where the order is {@link ChannelOrder#PRIORITY}.
     */
    public CompletableFuture<@Nullable Void> send(T element, Priority priority, Duration timeout) {
        Objects.requireNonNull(priority, "priority");
        return requests.send(element, priority, Objects.requireNonNull(timeout, "timeout"), null);
    }

    /**
     * Sends if that needs no waiting.
     *
     * @throws ChannelClosedException if the channel is closed
     */
    public boolean trySend(T element) {
        return ChannelBridge.offer(channel, ChannelBridge.wrap(element), ChannelBridge.levelOf(channel, null));
    }

    /**
     * As {@link #trySend(Object)}, at a level that counts where the order is {@link ChannelOrder#PRIORITY}.
     *
     * @throws ChannelClosedException if the channel is closed
     */
    public boolean trySend(T element, Priority priority) {
        Objects.requireNonNull(priority, "priority");
        return ChannelBridge.offer(channel, ChannelBridge.wrap(element), ChannelBridge.levelOf(channel, priority));
    }

    /**
     * A future of a place in the channel, to send into later without waiting. It is nobody else's until it is used or
     * closed, and a closed channel is not drained before. Fails with {@link ChannelClosedException} if the channel is
     * closed, with {@link IllegalStateException} if its capacity is 0: there are no places to keep.
     */
    public CompletableFuture<Reservation<T>> reserve() {
        return requests.reserve(null, null);
    }

    /** As {@link #reserve()}, at a level that counts where the order is {@link ChannelOrder#PRIORITY}. */
    public CompletableFuture<Reservation<T>> reserve(Priority priority) {
        return requests.reserve(Objects.requireNonNull(priority, "priority"), null);
    }

    /**
     * As {@link #reserve()}, but fails with {@link TimeoutException} if there is no place in time. Zero and less
     * mean now or not at all. The timeout is rounded up to whole milliseconds.
     */
    public CompletableFuture<Reservation<T>> reserve(Duration timeout) {
        return requests.reserve(null, Objects.requireNonNull(timeout, "timeout"));
    }

    // ---- to receive

    /**
     * A future of the next element. Fails with {@link ChannelClosedException} if the channel is closed and drained,
     * before or meanwhile.
     */
    public CompletableFuture<T> receive() {
        return requests.receive(null, null);
    }

    /**
     * As {@link #receive()}; when it had to wait, the future is completed on {@code executor}, and by whoever sends if
     * that rejects it.
     */
    public CompletableFuture<T> receive(Executor executor) {
        return requests.receive(null, Objects.requireNonNull(executor, "executor"));
    }

    /**
     * As {@link #receive()}, but fails with {@link TimeoutException} if nothing was received in time. Zero and less
     * mean now or not at all. The timeout is rounded up to whole milliseconds.
     */
    public CompletableFuture<T> receive(Duration timeout) {
        return requests.receive(Objects.requireNonNull(timeout, "timeout"), null);
    }

    /**
     * The next element, if there is one now.
     *
     * @throws ChannelClosedException if the channel is closed and drained
     * @throws NullPointerException if the next element is null; it stays in the channel
     */
    public Optional<T> tryReceive() {
        Object element = ChannelBridge.pollPresent(channel);
        return element == ChannelBridge.EMPTY ? Optional.empty() : Optional.of(requests.unwrap(element));
    }

    /**
     * Gives {@code action} the next element, which may be null, if there is one now; the caller gets what it throws.
     *
     * @return whether there was one
     * @throws ChannelClosedException if the channel is closed and drained
     */
    public boolean tryReceive(Consumer<? super T> action) {
        Objects.requireNonNull(action, "action");
        Object element = ChannelBridge.poll(channel);
        if (element == ChannelBridge.EMPTY) return false;
        action.accept(requests.unwrap(element));
        return true;
    }

    /**
     * Gives {@code action} one element after the other, until the channel is closed and drained. The future completes
     * then; with the cause, if the channel was closed with one; with {@link ChannelClosedException}, if it was
     * cancelled; and with what {@code action} throws, which ends it. Several of them share the elements of one channel.
     *
     * <p><i>Cancellation.</i> Ending the future ends it: nothing more is taken out. What {@code action} was given
     * counts as received.
     *
     * <p><i>CallbackExecutor.</i> The action runs on this thread, and where elements are sent, a bounded number of times in a
     * row; what is there beyond that, a thread of Baton's own does. It never runs twice at a time.
     */
    public CompletableFuture<@Nullable Void> forEach(Consumer<? super T> action) {
        return ForEachFuture.of(channel, action, null);
    }

    /** As {@link #forEach(Consumer)}, with the action run by {@code executor}. */
    public CompletableFuture<@Nullable Void> forEach(Consumer<? super T> action, Executor executor) {
        return ForEachFuture.of(channel, action, Objects.requireNonNull(executor, "executor"));
    }

    /**
     * As {@link #forEach(Consumer)}, but takes the next element only when the stage of the one before has completed;
     * one that fails ends it. Cancelling the future cancels that stage, if it can be.
     */
    public CompletableFuture<@Nullable Void> forEachAsync(Function<? super T, ? extends CompletionStage<?>> action) {
        return ForEachFuture.ofStages(channel, action, null);
    }

    /** As {@link #forEachAsync(Function)}, with the action run by {@code executor}. */
    public CompletableFuture<@Nullable Void> forEachAsync(
            Function<? super T, ? extends CompletionStage<?>> action, Executor executor) {
        return ForEachFuture.ofStages(channel, action, Objects.requireNonNull(executor, "executor"));
    }

    // ---- reactive streams

    /**
     * A publisher of what this channel receives. It takes an element out only when one is requested; many subscribers
     * share the elements. A subscription ends as {@link #forEach} does, and its subscriber gets that signal whether it has
     * requested anything or not. Cancelled, it takes nothing more; what it was handed and has not delivered goes to others. Signals run as the actions of {@link #forEach} do.
     * An element that is null stays in the channel, and ends the subscription with a {@link NullPointerException}.
     */
    public Flow.Publisher<T> publisher() {
        return subscriber -> ChannelSubscription.subscribe(channel, subscriber, null, true);
    }

    /** As {@link #publisher()}, with the signals run by {@code executor}. */
    public Flow.Publisher<T> publisher(Executor executor) {
        Objects.requireNonNull(executor, "executor");
        return subscriber -> ChannelSubscription.subscribe(channel, subscriber, executor, true);
    }

    /**
     * A subscriber, for one subscription, that sends what it gets to this channel. It requests an element when the one
     * before has a place, so that it holds one at most. When its publisher completes, it closes the channel, with the
     * cause if it fails; when the channel is closed, it cancels its subscription as soon as it is handed another
     * element.
     */
    public Flow.Subscriber<T> subscriber() {
        return new ChannelSubscriber<>(this);
    }

    // ---- size, end

    /** How many elements can be received now; those of senders that wait are not among them. */
    public int size() {
        return channel.getSize();
    }

    /** In which order elements are received, and senders served. */
    public ChannelOrder order() {
        return channel.getOrder();
    }

    /** What becomes of an element that is sent without a place for it. */
    public OnFull onFull() {
        return channel.getOnFull();
    }

    /** For how many elements there is room. */
    public int capacity() {
        return channel.getCapacity();
    }

    /** How many requests wait, to send, to reserve or to receive, of Java and Kotlin callers. */
    public int waiting() {
        return channel.getWaiting();
    }

    /** Whether nothing can be sent any more. There may still be something to receive. */
    public boolean isClosed() {
        return channel.isClosed();
    }

    /**
     * Changes the capacity. Growing lets in senders that wait; shrinking throws nothing away.
     *
     * @throws IllegalArgumentException if {@code capacity} is negative
     * @throws ChannelClosedException if the channel is closed
     */
    public void resize(int capacity) {
        channel.resize(capacity);
    }

    /**
     * Ends the sending: those who wait to send, and whoever does from now on, fail with {@link ChannelClosedException}.
     * What is inside can be received; after that, receivers fail, too.
     *
     * @return whether this call closed it
     */
    public boolean close() {
        return channel.close(null);
    }

    /** As {@link #close()}, with a cause for the exceptions. */
    public boolean close(Throwable cause) {
        return channel.close(Objects.requireNonNull(cause, "cause"));
    }

    /** Ends everything: as {@link #close()}, and what is inside is thrown away. */
    public void cancel() {
        channel.cancel(null);
    }

    /** As {@link #cancel()}, with a cause for the exceptions. */
    public void cancel(Throwable cause) {
        channel.cancel(Objects.requireNonNull(cause, "cause"));
    }

    @Override
    public String toString() {
        return "Async" + channel;
    }
}
