package baton.interop;

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
 * A {@link Latch} for Java: a gate that opens once and for all when {@link #countDown} has been called as often as its
 * count said at first. Who waits gets a {@link CompletableFuture}.
 *
 * <p>It has no state of its own: Java futures, Kotlin coroutines and {@code select} clauses that await the same latch
 * stand in one queue. No method blocks; who wants to block calls {@code join()}, on a virtual thread best of all.
 *
 * <p><i>Order.</i> All who wait are let in by the same step, and woken one after the other in the order in which they
 * came.
 *
 * <p><i>Cancellation.</i> Cancelling the future of an await, completing it from outside, or letting {@code orTimeout}
 * expire withdraws the request, and the count stays as it is. Stages derived from it do not withdraw it.
 *
 * <p><i>CallbackExecutor.</i> A future that had to wait is completed by the thread whose {@code countDown} opens the latch,
 * and its dependents run there, never under a lock of ours. One that blocks holds up those behind it, so it must not
 * wait for any of them: give it an executor. How the stack stays flat is told at {@link AsyncSemaphore}.
 *
 * <p><i>Memory.</i> What happens before a {@code countDown} that counted happens before whatever follows an await.
 */
public final class AsyncLatch {
    private final Latch latch;
    private final Countdown countdown;

    private AsyncLatch(Latch latch) {
        this.latch = latch;
        this.countdown = new Countdown(SyncBridge.of(latch), latch::getCount);
    }

    /** The Java face of that very latch. */
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

    /**
     * A new latch.
     *
     * @param name shown by messages and {@code toString}, or null
     * @throws IllegalArgumentException if {@code count} is negative
     */
    public static AsyncLatch create(int count, @Nullable String name) {
        return of(new Latch(count, name));
    }

    /** The latch behind this face. */
    public Latch kotlin() {
        return latch;
    }

    /** Takes one off the count. The last one opens the latch; after that it does nothing. */
    public void countDown() {
        latch.countDown();
    }

    /** A future that completes when the latch is open. */
    public CompletableFuture<@Nullable Void> await() {
        return countdown.await(null);
    }

    /**
     * As {@link #await()}; when it had to wait, the future is completed on {@code executor}, and by whoever opens the
     * latch if that rejects it.
     */
    public CompletableFuture<@Nullable Void> await(Executor executor) {
        return countdown.await(Objects.requireNonNull(executor, "executor"));
    }

    /**
     * As {@link #await()}, but fails with {@link TimeoutException} if the latch has not opened in time. Zero and
     * less mean now or not at all. The timeout is rounded up to whole milliseconds.
     */
    public CompletableFuture<@Nullable Void> await(Duration timeout) {
        return countdown.await(timeout, () -> "not open within " + timeout + ": " + latch);
    }

    /** How often {@link #countDown} has yet to be called; 0 when the latch is open. */
    public int count() {
        return latch.getCount();
    }

    /** How many requests wait, of Java and Kotlin callers. */
    public int waiting() {
        return latch.getWaiting();
    }

    @Override
    public String toString() {
        return "Async" + latch;
    }
}
