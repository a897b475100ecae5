package baton.interop;

import baton.Priority;
import baton.bridge.SyncBridge;
import baton.interop.internal.futures.SemaphorePermit;
import baton.interop.internal.futures.Timeout;
import baton.interop.internal.futures.WaiterFuture;
import baton.interop.internal.futures.WithPermitFuture;
import baton.sync.Semaphore;
import baton.sync.SemaphoreClosedException;
import baton.sync.WaitOrder;
import baton.waiting.WaitCore;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A {@link Semaphore} for Java: what waits returns a {@link CompletableFuture}, what is held is a {@link Permit}.
 *
 * <p>It has no state of its own: Java futures, Kotlin coroutines and {@code select} clauses that use the same semaphore
 * stand in one queue, in the order in which they came. No method blocks; who wants to block calls {@code join()}, on a
 * virtual thread best of all.
 *
 * <p><i>Order.</i> That of the semaphore, see {@link WaitOrder}.
 *
 * <p><i>Cancellation.</i> Cancelling the future of an acquire, completing it from outside, or letting {@code orTimeout}
 * expire withdraws the request, and nothing is lost. Stages derived from it do not: keep the future itself to cancel
 * it. A future that nobody reads keeps what it was granted; {@link LeakReport} finds those. kotlinx's {@code await()}
 * on the future cancels it when the awaiting coroutine is cancelled, and that withdraws the request.
 *
 * <p><i>CallbackExecutor.</i> A future that had to wait is completed by whoever releases, and its dependents run there, never
 * under a lock of ours; where releases and callbacks stand on each other more than a few levels deep, a thread of
 * Baton's own completes the next one, so that the stack stays flat. Such a thread, {@code baton-callbacks-…}, also
 * completes a future whose time is over; it is no pool that other code can fill, and its callbacks may block. To choose
 * who runs them, give an executor.
 *
 * <p><i>Failures</i> arrive in the future: {@link SemaphoreClosedException} when the semaphore is closed,
 * {@link TimeoutException} when the time was over. Arguments that can never succeed throw at the call.
 *
 * <p><i>Memory.</i> What happens before a permit is closed happens before whatever follows the acquire that gets it
 * next.
 */
public final class AsyncSemaphore {
    private final Semaphore semaphore;
    private final WaitCore core;

    private AsyncSemaphore(Semaphore semaphore) {
        this.semaphore = semaphore;
        this.core = SyncBridge.of(semaphore);
    }

    /** The Java face of that very semaphore. */
    public static AsyncSemaphore of(Semaphore semaphore) {
        return new AsyncSemaphore(Objects.requireNonNull(semaphore, "semaphore"));
    }

    /**
     * A new semaphore, first come first served.
     *
     * @throws IllegalArgumentException if {@code permits} is below 1
     */
    public static AsyncSemaphore create(int permits) {
        return create(permits, WaitOrder.FIFO, null);
    }

    /**
     * A new semaphore.
     *
     * @param name shown by messages and {@code toString}, or null
     * @throws IllegalArgumentException if {@code permits} is below 1
     */
    public static AsyncSemaphore create(int permits, WaitOrder order, @Nullable String name) {
        return of(new Semaphore(permits, 0, Objects.requireNonNull(order, "order"), name));
    }

    /** The semaphore behind this face. */
    public Semaphore kotlin() {
        return semaphore;
    }

    /** As {@link #acquire(int)}, for one permit. */
    public CompletableFuture<Permit> acquire() {
        return acquire(1);
    }

    /**
     * A future of {@code permits} permits in one: all of them at once, or none yet.
     *
     * @throws IllegalArgumentException if {@code permits} is below 1 or above {@link #permits()}
     */
    public CompletableFuture<Permit> acquire(int permits) {
        return request(permits, null, null);
    }

    /**
     * As {@link #acquire(int)}; when it had to wait, the future is completed on {@code executor}, and by whoever
     * releases if that rejects it.
     */
    public CompletableFuture<Permit> acquire(int permits, Executor executor) {
        return request(permits, null, Objects.requireNonNull(executor, "executor"));
    }

    /** As {@link #acquire(int)}, at a level that counts where the order is {@link WaitOrder#PRIORITY}. */
    public CompletableFuture<Permit> acquire(int permits, Priority priority) {
        return request(permits, Objects.requireNonNull(priority, "priority"), null);
    }

    /** As {@link #acquire(int, Duration)}, for one permit. */
    public CompletableFuture<Permit> acquire(Duration timeout) {
        return acquire(1, timeout);
    }

    /**
     * As {@link #acquire(int)}, but fails with {@link TimeoutException} if the permits are not there in time; then
     * nothing is held. Zero and less mean now or not at all. The timeout is rounded up to whole milliseconds.
     *
     * @throws IllegalArgumentException if {@code permits} is below 1 or above {@link #permits()}
     */
    public CompletableFuture<Permit> acquire(int permits, Duration timeout) {
        return requestWithin(permits, null, timeout);
    }

    /**
     * As {@link #acquire(int, Duration)}, at a level that counts where the order is {@link WaitOrder#PRIORITY}.
     *
     * @throws IllegalArgumentException if {@code permits} is below 1 or above {@link #permits()}
     */
    public CompletableFuture<Permit> acquire(int permits, Priority priority, Duration timeout) {
        return requestWithin(permits, Objects.requireNonNull(priority, "priority"), timeout);
    }

    /**
     * One permit, if one is free for this caller.
     *
     * @throws SemaphoreClosedException if the semaphore is closed
     */
    public Optional<Permit> tryAcquire() {
        return tryAcquire(1);
    }

    /**
     * {@code permits} permits in one, if they are free for this caller.
     *
     * @throws IllegalArgumentException if {@code permits} is below 1 or above {@link #permits()}
     * @throws SemaphoreClosedException if the semaphore is closed
     */
    public Optional<Permit> tryAcquire(int permits) {
        return semaphore.tryAcquire(permits) ? Optional.of(handOut(permits)) : Optional.empty();
    }

    /** As {@link #withPermits(int, Supplier)}, for one permit. */
    public <T extends @Nullable Object> CompletableFuture<T> withPermit(Supplier<? extends CompletionStage<T>> action) {
        return withPermits(1, action);
    }

    /** As {@link #withPermits(int, Supplier, Executor)}, for one permit. */
    public <T extends @Nullable Object> CompletableFuture<T> withPermit(
            Supplier<? extends CompletionStage<T>> action, Executor executor) {
        return withPermits(1, action, executor);
    }

    /**
     * Runs {@code action} while holding {@code permits} permits. They come back when the action's stage has completed,
     * however it does, also when the action throws instead of returning one; only then the returned future completes,
     * as the stage did.
     *
     * <p><i>Cancellation.</i> While it waits: the request is withdrawn and the action never runs. While the action
     * runs: its stage is cancelled if it can be, and the permits come back when it has ended.
     *
     * @throws IllegalArgumentException if {@code permits} is below 1 or above {@link #permits()}
     */
    public <T extends @Nullable Object> CompletableFuture<T> withPermits(
            int permits, Supplier<? extends CompletionStage<T>> action) {
        Objects.requireNonNull(action, "action");
        return WithPermitFuture.run(acquire(permits), action, null);
    }

    /**
     * As {@link #withPermits(int, Supplier)}, with the action run by {@code executor}.
     *
     * @throws IllegalArgumentException if {@code permits} is below 1 or above {@link #permits()}
     */
    public <T extends @Nullable Object> CompletableFuture<T> withPermits(
            int permits, Supplier<? extends CompletionStage<T>> action, Executor executor) {
        Objects.requireNonNull(action, "action");
        Objects.requireNonNull(executor, "executor");
        return WithPermitFuture.run(acquire(permits), action, executor);
    }

    /**
     * A future that completes as soon as all permits are back. It takes none and bars nobody. Cancelling it withdraws
     * it.
     */
    public CompletableFuture<@Nullable Void> awaitIdle() {
        return WaiterFuture.enqueue(core, SyncBridge.IDLE_WEIGHT, null, null, null);
    }

    /** In which order those who wait are served. */
    public WaitOrder order() {
        return semaphore.getOrder();
    }

    /** How many permits there are. */
    public int permits() {
        return semaphore.getPermits();
    }

    /** How many permits nobody holds; never negative. */
    public int availablePermits() {
        return semaphore.getAvailablePermits();
    }

    /** How many requests wait, of Java and Kotlin callers. */
    public int waiting() {
        return semaphore.getWaiting();
    }

    /**
     * Changes the number of permits. What is held beyond a smaller number is a debt that releases pay off first;
     * waiting requests for more than the new number fail with {@link IllegalArgumentException}.
     *
     * @throws IllegalArgumentException if {@code permits} is below 1
     * @throws SemaphoreClosedException if the semaphore is closed
     */
    public void resize(int permits) {
        semaphore.resize(permits);
    }

    /** Fails all who wait, and all who come, with {@link SemaphoreClosedException}. Holders may still give back. */
    public void close() {
        semaphore.close(null);
    }

    /** As {@link #close()}, with a cause for the exceptions. */
    public void close(Throwable cause) {
        semaphore.close(Objects.requireNonNull(cause, "cause"));
    }

    @Override
    public String toString() {
        return "Async" + semaphore;
    }

    private CompletableFuture<Permit> request(int permits, @Nullable Priority priority, @Nullable Executor executor) {
        CompletableFuture<Permit> decided = atOnce(permits);
        if (decided != null) return decided;
        return WaiterFuture.enqueue(core, permits, priority, new SemaphorePermit(semaphore, permits), executor);
    }

    private CompletableFuture<Permit> requestWithin(int permits, @Nullable Priority priority, Duration timeout) {
        long millis = Timeout.millis(timeout);
        CompletableFuture<Permit> decided = atOnce(permits);
        if (decided != null) return decided;
        Supplier<String> message = () -> "no " + words(permits) + " within " + timeout + " from " + semaphore;
        if (millis == 0) return CompletableFuture.failedFuture(new TimeoutException(message.get()));
        return WaiterFuture.enqueue(core, permits, priority, new SemaphorePermit(semaphore, permits), millis, message);
    }

    /** What needs no waiting, or null. */
    private @Nullable CompletableFuture<Permit> atOnce(int permits) {
        try {
            return semaphore.tryAcquire(permits) ? CompletableFuture.completedFuture(handOut(permits)) : null;
        } catch (SemaphoreClosedException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private Permit handOut(int permits) {
        return new SemaphorePermit(semaphore, permits).handedOut();
    }

    private static String words(int permits) {
        return permits == 1 ? "permit" : permits + " permits";
    }
}
