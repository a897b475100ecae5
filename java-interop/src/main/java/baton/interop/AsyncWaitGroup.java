package baton.interop;

import baton.bridge.Durations;
import baton.bridge.SyncBridge;
import baton.interop.internal.futures.Countdown;
import baton.sync.WaitGroup;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A {@link WaitGroup} for Java: counts work in progress, and completes futures once there is none. Call {@link #add}
 * before a piece of work begins, {@link #done} when it has ended. Waiting operations return a {@link
 * CompletableFuture}.
 *
 * <pre>{@code
 * AsyncWaitGroup uploads = AsyncWaitGroup.create();
 * for (String file : files) {
 *     uploads.add();
 *     upload(file).whenComplete((value, failure) -> uploads.done());
 * }
 * CompletableFuture<Void> allEnded = uploads.await();
 * }</pre>
 *
 * <p>It has no state of its own: Java futures, Kotlin coroutines and {@code select} clauses that await the same group
 * wait in one queue. No method blocks; threads that may block use {@link #blocking()}.
 *
 * <p><i>Zero.</i> When the count reaches zero, all requests that wait at that moment are granted, even if an {@code
 * add} follows at once. A request that arrives after that moment is not. The group can be used again after it was at
 * zero.
 *
 * <p><i>Misuse.</i> {@link #done} at zero, and an {@link #add} beyond {@link Integer#MAX_VALUE}, throw
 * {@link IllegalStateException} at the call and change nothing.
 *
 * <p><i>Order, cancellation, callbacks.</i> As for {@link AsyncLatch}.
 *
 * <p><i>Memory.</i> Actions before a {@code done} happen before the actions that follow an await which is granted by
 * the zero to which that {@code done} contributed.
 */
public final class AsyncWaitGroup {
    private final WaitGroup group;
    private final Countdown countdown;

    private AsyncWaitGroup(WaitGroup group) {
        this.group = group;
        this.countdown = new Countdown(SyncBridge.of(group), group::getCount);
    }

    /** The Java API of the given group; the two share all state. */
    public static AsyncWaitGroup of(WaitGroup group) {
        return new AsyncWaitGroup(Objects.requireNonNull(group, "group"));
    }

    /** A new group, at zero. */
    public static AsyncWaitGroup create() {
        return create(null);
    }

    /** As {@link #create()}, with a name for messages and {@code toString}; null for none. */
    public static AsyncWaitGroup create(@Nullable String name) {
        return of(new WaitGroup(name));
    }

    /** The Kotlin group behind this. */
    public WaitGroup kotlin() {
        return group;
    }

    /** A view of the same group for threads that may block. */
    public BlockingWaitGroup blocking() {
        return new BlockingWaitGroup(group);
    }

    /** As {@link #add(int)} with 1. */
    public void add() {
        group.add(1);
    }

    /**
     * Adds {@code n} to the count.
     *
     * @throws IllegalArgumentException if {@code n} is below 1
     * @throws IllegalStateException if the count would be above {@link Integer#MAX_VALUE}; nothing is added
     */
    public void add(int n) {
        group.add(n);
    }

    /**
     * Decrements the count, and at zero grants all waiting requests.
     *
     * @throws IllegalStateException if the count is zero
     */
    public void done() {
        group.done();
    }

    /** A future that completes when the count is zero; completed already if it is zero now. */
    public CompletableFuture<@Nullable Void> await() {
        return countdown.await(null);
    }

    /**
     * As {@link #await()}, but a future that had to wait is completed on {@code executor}; by the thread that brings
     * the count to zero if the executor rejects that.
     */
    public CompletableFuture<@Nullable Void> await(Executor executor) {
        return countdown.await(Objects.requireNonNull(executor, "executor"));
    }

    /**
     * As {@link #await()}, but fails with {@link TimeoutException} if the count was not zero in time. With zero or
     * less it succeeds or fails at once. The timeout is rounded up to whole milliseconds.
     */
    public CompletableFuture<@Nullable Void> await(Duration timeout) {
        return countdown.await(timeout, () -> "not at zero within " + Durations.textOf(timeout) + ": " + group);
    }

    /** The number of pieces of work that were added and are not done. */
    public int count() {
        return group.getCount();
    }

    /** The number of waiting requests, of Java and Kotlin callers. */
    public int waiting() {
        return group.getWaiting();
    }

    @Override
    public String toString() {
        return "Async" + group;
    }
}
