package baton.interop;

import baton.PermitTimeoutException;
import baton.Priority;
import baton.bridge.ChannelBridge;
import baton.channels.Channel;
import baton.channels.ChannelClosedException;
import baton.channels.ChannelOrder;
import baton.interop.internal.futures.ChannelRequests;
import baton.interop.internal.futures.HeldReservation;
import baton.interop.internal.futures.Late;
import baton.interop.internal.futures.ReceiveUpToFuture;
import baton.interop.internal.futures.Timeout;
import baton.waiting.ThreadWaiter;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A {@link Channel} for threads that may block: virtual threads above all. Made by {@link AsyncChannel#blocking()}.
 *
 * <pre>{@code
 * BlockingChannel<String> lines = AsyncChannel.<String>create(64).blocking();
 * lines.send("one");
 * String line = lines.receive(Duration.ofSeconds(1));
 * }</pre>
 *
 * <p>It has no state of its own: threads, Java futures, Kotlin coroutines, {@code select} clauses and subscribers that
 * use the same channel wait in the same queues. A waiting thread parks, so a virtual thread leaves its carrier.
 *
 * <p><i>Interrupts.</i> An interrupt ends the wait: {@link InterruptedException} means that the element was not taken,
 * or that none was received. If the element was taken or handed over just before, the call returns normally and the
 * thread stays interrupted. A thread that is interrupted when it calls neither sends nor receives.
 *
 * <p><i>Order, end, memory.</i> As for {@link AsyncChannel}. Elements may be null where a method does not say
 * otherwise.
 */
public final class BlockingChannel<T extends @Nullable Object> extends ChannelControl<T> implements AutoCloseable {
    private final AsyncChannel<T> async;
    private final ChannelRequests<T> requests;

    BlockingChannel(AsyncChannel<T> async, ChannelRequests<T> requests) {
        super(async.kotlin());
        this.async = async;
        this.requests = requests;
    }

    /**
     * Sends the element, and waits until there is room for it.
     *
     * @throws ChannelClosedException if the channel is closed, before or meanwhile
     */
    public void send(T element) throws InterruptedException {
        sendAt(element, null);
    }

    /** As {@link #send(Object)}, at a level that counts where the order is {@link ChannelOrder#PRIORITY}. */
    public void send(T element, Priority priority) throws InterruptedException {
        sendAt(element, Objects.requireNonNull(priority, "priority"));
    }

    /**
     * As {@link #send(Object)}, but waits {@code timeout} at most. With zero or less it does not wait.
     *
     * @throws PermitTimeoutException if the element was not taken in time; it is never taken then
     */
    public void send(T element, Duration timeout) throws InterruptedException, PermitTimeoutException {
        sendWithin(element, null, timeout);
    }

    /**
     * As {@link #send(Object, Duration)}, at a level that counts where the order is {@link ChannelOrder#PRIORITY}.
     */
    public void send(T element, Priority priority, Duration timeout)
            throws InterruptedException, PermitTimeoutException {
        sendWithin(element, Objects.requireNonNull(priority, "priority"), timeout);
    }

    /**
     * Sends if that needs no waiting.
     *
     * @throws ChannelClosedException if the channel is closed
     */
    public boolean trySend(T element) {
        return async.trySend(element);
    }

    /** As {@link #trySend(Object)}, at a level that counts where the order is {@link ChannelOrder#PRIORITY}. */
    public boolean trySend(T element, Priority priority) {
        return async.trySend(element, priority);
    }

    /**
     * Waits for a place in the channel, for a later send that does not wait.
     *
     * @throws ChannelClosedException if the channel is closed, before or meanwhile
     * @throws IllegalStateException if the capacity is 0: there are no places to reserve
     */
    public Reservation<T> reserve() throws InterruptedException {
        return reserveAt(null);
    }

    /** As {@link #reserve()}, at a level that counts where the order is {@link ChannelOrder#PRIORITY}. */
    public Reservation<T> reserve(Priority priority) throws InterruptedException {
        return reserveAt(Objects.requireNonNull(priority, "priority"));
    }

    /**
     * As {@link #reserve()}, but waits {@code timeout} at most.
     *
     * @throws PermitTimeoutException if there was no place in time; none is held
     */
    public Reservation<T> reserve(Duration timeout) throws InterruptedException, PermitTimeoutException {
        return reserveWithin(null, timeout);
    }

    /**
     * As {@link #reserve(Duration)}, at a level that counts where the order is {@link ChannelOrder#PRIORITY}.
     */
    public Reservation<T> reserve(Priority priority, Duration timeout)
            throws InterruptedException, PermitTimeoutException {
        return reserveWithin(Objects.requireNonNull(priority, "priority"), timeout);
    }

    /**
     * A place in the channel, if there is one now.
     *
     * @throws ChannelClosedException if the channel is closed
     * @throws IllegalStateException if the capacity is 0: there are no places to reserve
     */
    public Optional<Reservation<T>> tryReserve() {
        return async.tryReserve();
    }

    /** As {@link #tryReserve()}, at a level that counts where the order is {@link ChannelOrder#PRIORITY}. */
    public Optional<Reservation<T>> tryReserve(Priority priority) {
        return async.tryReserve(priority);
    }

    /**
     * Waits for the next element.
     *
     * @throws ChannelClosedException if the channel is closed and drained, before or meanwhile
     */
    public T receive() throws InterruptedException {
        ThreadWaiter.throwIfInterrupted();
        Object element = ChannelBridge.poll(channel);
        if (element != ChannelBridge.EMPTY) return requests.unwrap(element);
        ThreadWaiter waiter = waiter(0, ChannelBridge.RECEIVE);
        waiter.await();
        return granted(waiter);
    }

    /**
     * As {@link #receive()}, but waits {@code timeout} at most. With zero or less it does not wait.
     *
     * @throws TimeoutException if nothing was received in time
     */
    public T receive(Duration timeout) throws InterruptedException, TimeoutException {
        long nanos = Timeout.nanos(timeout);
        ThreadWaiter.throwIfInterrupted();
        Object element = ChannelBridge.poll(channel);
        if (element != ChannelBridge.EMPTY) return requests.unwrap(element);
        ThreadWaiter waiter = waiter(0, ChannelBridge.RECEIVE);
        if (nanos > 0 && waiter.await(nanos)) return granted(waiter);
        throw Late.receive(timeout, channel);
    }

    /**
     * Up to {@code limit} elements: waits for the next one, and adds those that are there when it has come. An empty list
     * is the end, after which there will be no more; see {@link AsyncChannel#receiveUpTo}.
     *
     * @throws IllegalArgumentException if {@code limit} is below 1
     * @throws ChannelClosedException if the channel was closed or cancelled with a cause, which is that of the exception
     */
    public List<T> receiveUpTo(int limit) throws InterruptedException {
        ThreadWaiter.throwIfInterrupted();
        try {
            Object elements = ChannelBridge.pollUpTo(channel, limit);
            if (elements != ChannelBridge.EMPTY) return ReceiveUpToFuture.listOf(elements);
            ThreadWaiter waiter = waiter(0, ChannelBridge.RECEIVE);
            waiter.await();
            return ReceiveUpToFuture.listOf(ChannelBridge.receivedUpTo(channel, waiter, limit));
        } catch (ChannelClosedException e) {
            if (ChannelBridge.endOf(e) == null) return List.of();
            throw e;
        }
    }

    /**
     * The next element, if there is one now.
     *
     * @throws ChannelClosedException if the channel is closed and drained
     * @throws NullPointerException if the next element is null; it stays in the channel
     */
    public Optional<T> tryReceive() {
        return async.tryReceive();
    }

    @Override
    public String toString() {
        return "Blocking" + channel;
    }

    private void sendAt(T element, @Nullable Priority priority) throws InterruptedException {
        ThreadWaiter.throwIfInterrupted();
        Object wrapped = ChannelBridge.wrap(element);
        int level = ChannelBridge.levelOf(channel, priority);
        if (!ChannelBridge.offer(channel, wrapped, level))
            waiter(level, wrapped).await();
    }

    private void sendWithin(T element, @Nullable Priority priority, Duration timeout)
            throws InterruptedException, PermitTimeoutException {
        long nanos = Timeout.nanos(timeout);
        ThreadWaiter.throwIfInterrupted();
        Object wrapped = ChannelBridge.wrap(element);
        int level = ChannelBridge.levelOf(channel, priority);
        if (ChannelBridge.offer(channel, wrapped, level)) return;
        if (nanos > 0 && waiter(level, wrapped).await(nanos)) return;
        throw Late.send(timeout, channel);
    }

    private Reservation<T> reserveAt(@Nullable Priority priority) throws InterruptedException {
        int level = ChannelBridge.levelOf(channel, priority);
        HeldReservation<T> reservation = new HeldReservation<>(channel, level);
        if (!reserveNow()) waiter(level, ChannelBridge.PLACE).await();
        reservation.handedOut();
        return reservation;
    }

    private Reservation<T> reserveWithin(@Nullable Priority priority, Duration timeout)
            throws InterruptedException, PermitTimeoutException {
        long nanos = Timeout.nanos(timeout);
        int level = ChannelBridge.levelOf(channel, priority);
        HeldReservation<T> reservation = new HeldReservation<>(channel, level);
        if (!reserveNow() && (nanos == 0 || !waiter(level, ChannelBridge.PLACE).await(nanos))) {
            throw Late.reserve(timeout, channel);
        }
        reservation.handedOut();
        return reservation;
    }

    private boolean reserveNow() throws InterruptedException {
        ThreadWaiter.throwIfInterrupted();
        if (channel.getCapacity() == 0) {
            throw new IllegalStateException("reserve with capacity = 0, must be at least 1: " + channel);
        }
        return ChannelBridge.reserve(channel);
    }

    private ThreadWaiter waiter(int number, Object request) {
        return new ThreadWaiter(ChannelBridge.of(channel), number, request, channel);
    }

    @SuppressWarnings({"unchecked", "NullAway"}) // the channel takes elements of T only, null if T may be
    private T granted(ThreadWaiter waiter) {
        return (T) waiter.grant();
    }
}
