package baton.interop;

import baton.bridge.Durations;
import baton.bridge.SyncBridge;
import baton.interop.internal.futures.Countdown;
import baton.sync.Latch;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A {@link Latch} for Java: opens for good once {@link #countDown} has been called as often as its initial count says.
 * Waiting operations return a {@link CompletableFuture}.
 *
 * <pre>{@code
 * AsyncLatch ready = AsyncLatch.create(2);
 * loadConfig().thenRun(ready::countDown);
 * connect().thenRun(ready::countDown);
 * CompletableFuture<Void> started = ready.await().thenRun(this::serve);
 * }</pre>
 *
 * <p>It has no state of its own: Java futures, Kotlin coroutines and {@code select} clauses that await the same latch
 * wait in one queue. No method blocks; threads that may block use {@link #blocking()}.
 *
 * <p><i>Order.</i> All waiting requests are granted in one step, and their futures completed one after the other, in
 * the order of their arrival.
 *
 * <p><i>Cancellation.</i> Cancelling the future of an await, completing it from outside, or letting {@code orTimeout}
 * expire withdraws the request, and the count stays as it is. Cancelling a stage derived from it withdraws nothing.
 *
 * <p><i>Callbacks.</i> A future that had to wait is completed by the thread whose {@code countDown} opens the latch,
 * and its dependents run there, never under a lock of Baton's. A dependent that blocks holds up the futures behind it,
 * so it must not wait for one of them; give its future an executor. {@link AsyncSemaphore} says how the stack stays
 * flat.
 *
 * <p><i>Memory.</i> Actions before a {@code countDown} that counted happen before the actions that follow an await.
 */
public final class AsyncLatch {
    private final Latch latch;
    private final Countdown countdown;

    private AsyncLatch(Latch latch) {
        this.latch = latch;
        this.countdown = new Countdown(SyncBridge.of(latch), latch::getCount);
    }

    /** The Java API of the given latch; the two share all state. */
    public static AsyncLatch of(Latch latch) {
        return new AsyncLatch(Objects.requireNonNull(latch, "latch"));
    }

    /**
     * A new latch.
     *
     * @throws IllegalArgumentException if {@code count} is negative
     */
    public static AsyncLatch create(int count) {
        return create(count, null);
    }

    /** As {@link #create(int)}, with a name for messages and {@code toString}; null for none. */
    public static AsyncLatch create(int count, @Nullable String name) {
        return of(new Latch(count, name));
    }

    /** The Kotlin latch behind this. */
    public Latch kotlin() {
        return latch;
    }

    /** A view of the same latch for threads that may block. */
    public BlockingLatch blocking() {
        return new BlockingLatch(latch);
    }

    /** Decrements the count, and opens the latch at zero. Does nothing once the latch is open. */
    public void countDown() {
        latch.countDown();
    }

    /** A future that completes when the latch is open. */
    public CompletableFuture<@Nullable Void> await() {
        return countdown.await(null);
    }

    /**
     * As {@link #await()}, but a future that had to wait is completed on {@code executor}; by the thread that opens the
     * latch if the executor rejects that.
     */
    public CompletableFuture<@Nullable Void> await(Executor executor) {
        return countdown.await(Objects.requireNonNull(executor, "executor"));
    }

    /**
     * As {@link #await()}, but fails with {@link TimeoutException} if the latch has not opened in time. With zero or
     * less it succeeds or fails at once. The timeout is rounded up to whole milliseconds.
     */
    public CompletableFuture<@Nullable Void> await(Duration timeout) {
        return countdown.await(timeout, () -> "not open within " + Durations.textOf(timeout) + ": " + latch);
    }

    /** The number of calls of {@link #countDown} still missing; 0 once the latch is open. */
    public int count() {
        return latch.getCount();
    }

    /** The number of waiting requests, of Java and Kotlin callers. */
    public int waiting() {
        return latch.getWaiting();
    }

    @Override
    public String toString() {
        return "Async" + latch;
    }
}
