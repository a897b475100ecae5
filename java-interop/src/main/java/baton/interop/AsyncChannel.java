package baton.interop;

import baton.PermitTimeoutException;
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
import baton.interop.internal.futures.ReceiveUpToFuture;
import java.time.Duration;
import java.util.List;
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
 * A {@link Channel} for Java: passes elements from senders to receivers, each element to one receiver, with room for
 * {@link #capacity()} elements in between. Waiting operations return a {@link CompletableFuture}.
 *
 * <pre>{@code
 * AsyncChannel<String> lines = AsyncChannel.create(64);
 * CompletableFuture<Void> printed = lines.forEach(System.out::println);
 * lines.send("one").thenCompose(sent -> lines.send("two")).thenRun(lines::close);
 * }</pre>
 *
 * <p>It has no state of its own: Java futures, Kotlin coroutines, {@code select} clauses, {@link Select}s and
 * subscribers that use the same channel wait in the same queues. No method blocks; threads that may block use {@link
 * #blocking()}.
 *
 * <p><i>Order.</i> See {@link ChannelOrder}. Receivers are served in the order of their arrival, and so are senders;
 * with {@link ChannelOrder#PRIORITY}, the senders of one level are. The level is {@link Priority#NORMAL} if none is
 * given.
 *
 * <p><i>Cancellation.</i> Cancelling a future, completing it from outside, or letting {@code orTimeout} expire
 * withdraws the request, and no element is lost: if the cancel is too late, a future of {@code receive} is completed
 * with the element that it was granted. A future of {@code send} fails if and only if the element was not taken; if the
 * cancel is too late, it completes normally. Cancelling stages derived from them withdraws nothing. A future that is
 * never read keeps the element it received, or its place; {@link LeakReport} finds such places.
 *
 * <p><i>Callbacks.</i> As for {@link AsyncSemaphore}: the thread that sends, receives or closes runs them, unless an
 * executor is given.
 *
 * <p><i>End.</i> After {@link #close()} nothing can be sent. The elements inside can be received; after them, receivers
 * get {@link ChannelClosedException}. {@link #cancel()} also drops the elements inside.
 *
 * <p><i>Memory.</i> Actions before an element is sent happen before the actions that follow its receipt.
 *
 * <p>Elements may be null where a method does not say otherwise.
 */
public final class AsyncChannel<T extends @Nullable Object> extends ChannelControl<T> implements AutoCloseable {
    private final ChannelRequests<T> requests;

    private AsyncChannel(Channel<T> channel) {
        super(channel);
        this.requests = new ChannelRequests<>(channel);
    }

    /** The Java API of the given channel; the two share all state. */
    public static <T extends @Nullable Object> AsyncChannel<T> of(Channel<T> channel) {
        return new AsyncChannel<>(Objects.requireNonNull(channel, "channel"));
    }

    /**
     * A new channel, where elements are received in the order in which they were sent, and senders wait for a place.
     *
     * @param capacity the number of elements it holds while no receiver waits; with 0, each sender waits for a receiver
     * @throws IllegalArgumentException if {@code capacity} is negative
     */
    public static <T extends @Nullable Object> AsyncChannel<T> create(int capacity) {
        return create(capacity, ChannelOrder.FIFO, OnFull.SUSPEND);
    }

    /** As {@link #create(int)}, with a name for messages and {@code toString}; null for none. */
    public static <T extends @Nullable Object> AsyncChannel<T> create(int capacity, @Nullable String name) {
        return create(capacity, ChannelOrder.FIFO, OnFull.SUSPEND, name);
    }

    /**
     * A new channel without a name.
     *
     * @throws IllegalArgumentException if {@code capacity} is negative
     */
    public static <T extends @Nullable Object> AsyncChannel<T> create(int capacity, ChannelOrder order, OnFull onFull) {
        return create(capacity, order, onFull, (String) null);
    }

    /**
     * A new channel.
     *
     * @param name shown by messages and {@code toString}, or null
     * @throws IllegalArgumentException if {@code capacity} is negative
     */
    public static <T extends @Nullable Object> AsyncChannel<T> create(
            int capacity, ChannelOrder order, OnFull onFull, @Nullable String name) {
        Objects.requireNonNull(order, "order");
        Objects.requireNonNull(onFull, "onFull");
        return of(ChannelBridge.<T>channelOf(capacity, order, onFull, name, null));
    }

    /** As {@link #create(int, ChannelOrder, OnFull, Consumer, String)}, without a name. */
    public static <T extends @Nullable Object> AsyncChannel<T> create(
            int capacity, ChannelOrder order, OnFull onFull, Consumer<? super T> onDropped) {
        return create(capacity, order, onFull, onDropped, null);
    }

    /**
     * A new channel.
     *
     * @param onDropped gets each element that was taken and will not be received, because it was dropped or the channel
     *     was cancelled. It runs on the thread that dropped the element, under no lock; its exceptions go to the
     *     thread's handler for uncaught exceptions
     * @param name shown by messages and {@code toString}, or null
     * @throws IllegalArgumentException if {@code capacity} is negative
     */
    public static <T extends @Nullable Object> AsyncChannel<T> create(
            int capacity, ChannelOrder order, OnFull onFull, Consumer<? super T> onDropped, @Nullable String name) {
        Objects.requireNonNull(order, "order");
        Objects.requireNonNull(onFull, "onFull");
        Objects.requireNonNull(onDropped, "onDropped");
        return of(ChannelBridge.<T>channelOf(capacity, order, onFull, name, onDropped));
    }

    /**
     * A new conflated channel: it keeps the latest element alone, and a send never waits. The same as a capacity of 1
     * with {@link OnFull#DROP_OLDEST}.
     */
    public static <T extends @Nullable Object> AsyncChannel<T> conflated() {
        return conflated(null);
    }

    /** As {@link #conflated()}, with a name for messages and {@code toString}; null for none. */
    public static <T extends @Nullable Object> AsyncChannel<T> conflated(@Nullable String name) {
        return create(1, ChannelOrder.FIFO, OnFull.DROP_OLDEST, name);
    }

    /** The Kotlin channel behind this. */
    public Channel<T> kotlin() {
        return channel;
    }

    /** A view of the same channel for threads that may block. */
    public BlockingChannel<T> blocking() {
        return new BlockingChannel<>(this, requests);
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
     * As {@link #send(Object)}, but a future that had to wait is completed on {@code executor}; by the thread that
     * makes room if the executor rejects that.
     */
    public CompletableFuture<@Nullable Void> send(T element, Executor executor) {
        return requests.send(element, null, null, Objects.requireNonNull(executor, "executor"));
    }

    /**
     * As {@link #send(Object)}, but fails with {@link PermitTimeoutException} if the element was not taken in time; then it
     * is never taken. With zero or less it succeeds or fails at once. The timeout is rounded up to whole milliseconds.
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

    /** As {@link #trySend(Object)}, at a level that counts where the order is {@link ChannelOrder#PRIORITY}. */
    public boolean trySend(T element, Priority priority) {
        Objects.requireNonNull(priority, "priority");
        return ChannelBridge.offer(channel, ChannelBridge.wrap(element), ChannelBridge.levelOf(channel, priority));
    }

    /**
     * A future of a place in the channel, for a later send that does not wait. The place is kept until it is used or
     * closed, and a closed channel is not drained before that. Fails with {@link ChannelClosedException} if the channel
     * is closed, with {@link IllegalStateException} if its capacity is 0, because it has no places then.
     */
    public CompletableFuture<Reservation<T>> reserve() {
        return requests.reserve(null, null);
    }

    /** As {@link #reserve()}, at a level that counts where the order is {@link ChannelOrder#PRIORITY}. */
    public CompletableFuture<Reservation<T>> reserve(Priority priority) {
        return requests.reserve(Objects.requireNonNull(priority, "priority"), null);
    }

    /**
     * As {@link #reserve()}, but fails with {@link PermitTimeoutException} if there is no place in time. With zero or less
     * it succeeds or fails at once. The timeout is rounded up to whole milliseconds.
     */
    public CompletableFuture<Reservation<T>> reserve(Duration timeout) {
        return requests.reserve(null, Objects.requireNonNull(timeout, "timeout"));
    }

    /** As {@link #reserve(Duration)}, at a level that counts where the order is {@link ChannelOrder#PRIORITY}. */
    public CompletableFuture<Reservation<T>> reserve(Priority priority, Duration timeout) {
        Objects.requireNonNull(priority, "priority");
        return requests.reserve(priority, Objects.requireNonNull(timeout, "timeout"));
    }

    /**
     * A place in the channel, if there is one now.
     *
     * @throws ChannelClosedException if the channel is closed
     * @throws IllegalStateException if the capacity is 0: there are no places to reserve
     */
    public Optional<Reservation<T>> tryReserve() {
        return Optional.ofNullable(requests.tryReserve(ChannelBridge.levelOf(channel, null)));
    }

    /** As {@link #tryReserve()}, at a level that counts where the order is {@link ChannelOrder#PRIORITY}. */
    public Optional<Reservation<T>> tryReserve(Priority priority) {
        Objects.requireNonNull(priority, "priority");
        return Optional.ofNullable(requests.tryReserve(ChannelBridge.levelOf(channel, priority)));
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
     * As {@link #receive()}, but a future that had to wait is completed on {@code executor}; by the sending thread if
     * the executor rejects that.
     */
    public CompletableFuture<T> receive(Executor executor) {
        return requests.receive(null, Objects.requireNonNull(executor, "executor"));
    }

    /**
     * As {@link #receive()}, but fails with {@link TimeoutException} if nothing was received in time. With zero or less
     * it succeeds or fails at once. The timeout is rounded up to whole milliseconds.
     */
    public CompletableFuture<T> receive(Duration timeout) {
        return requests.receive(Objects.requireNonNull(timeout, "timeout"), null);
    }

    /**
     * A future of up to {@code limit} elements: of the next one, and those that are there when it has come. An empty list
     * is the end, after which there will be no more: the channel is closed and drained, or cancelled. If that was done with
     * a cause, the future fails with it, as an iteration does.
     *
     * <p><i>Cancellation.</i> As of {@link #receive()}: a request that is withdrawn has received nothing.
     *
     * @throws IllegalArgumentException if {@code limit} is below 1
     */
    public CompletableFuture<List<T>> receiveUpTo(int limit) {
        return ReceiveUpToFuture.receive(channel, limit);
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
     * Gives {@code action} the next element, which may be null, if there is one now. Its exceptions go to the caller.
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
     * Gives {@code action} one element after the other, until the channel is closed and drained, or cancelled. Then the
     * future completes: normally, or with the cause if there is one (a CancellationException comes in a {@link
     * ChannelClosedException}, since the future was not cancelled). An exception of {@code action} ends the iteration
     * and fails the future. Several iterations share the elements of one channel.
     *
     * <p><i>Cancellation.</i> Cancelling or completing the future ends the iteration: no further element is taken out.
     * An element given to {@code action} counts as received.
     *
     * <p><i>Callbacks.</i> The action runs on this thread and on the sending threads, a bounded number of times in a
     * row; after that a thread of Baton's own goes on. It never runs on two threads at a time.
     */
    public CompletableFuture<@Nullable Void> forEach(Consumer<? super T> action) {
        return ForEachFuture.of(channel, action, null);
    }

    /** As {@link #forEach(Consumer)}, with the action run by {@code executor}. */
    public CompletableFuture<@Nullable Void> forEach(Consumer<? super T> action, Executor executor) {
        return ForEachFuture.of(channel, action, Objects.requireNonNull(executor, "executor"));
    }

    /**
     * As {@link #forEach(Consumer)}, but takes the next element only when the stage for the last one has completed. A
     * stage that fails ends the iteration. Cancelling or completing the future cancels the current stage, if possible.
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
     * A publisher of the elements of this channel. It takes an element out only when one is requested; several
     * subscribers share the elements. A subscription ends as {@link #forEach} does, and its subscriber gets that signal
     * without a request. A cancelled subscription takes no further element, and an element that it was granted and has
     * not delivered goes to another receiver. Signals run as the actions of {@link #forEach} do. A null element stays
     * in the channel, and ends the subscription with a {@link NullPointerException}.
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
     * A subscriber, for one subscription, that sends its elements to this channel. It requests the next element when
     * the last one has a place, so it holds one at most. When its publisher completes or fails, it closes the channel,
     * with the failure as the cause. When the channel is closed, it cancels its subscription at the next element.
     */
    public Flow.Subscriber<T> subscriber() {
        return new ChannelSubscriber<>(this);
    }
}
