package baton.interop;

import baton.PermitTimeoutException;
import baton.Priority;
import baton.bridge.SyncBridge;
import baton.interop.internal.futures.CallerContext;
import baton.interop.internal.futures.HeldPermit;
import baton.interop.internal.futures.Late;
import baton.interop.internal.futures.SemaphorePermit;
import baton.interop.internal.futures.Stages;
import baton.interop.internal.futures.WaiterFuture;
import baton.interop.internal.futures.WithPermitFuture;
import baton.sync.Semaphore;
import baton.sync.SemaphoreClosedException;
import baton.sync.WaitOrder;
import baton.waiting.WaitCore;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A {@link Semaphore} for Java: waiting operations return a {@link CompletableFuture}, and a holder has a {@link
 * Permit}.
 *
 * <pre>{@code
 * AsyncSemaphore uplink = AsyncSemaphore.create(10);
 * CompletableFuture<String> body = uplink.withPermit(
 *         () -> client.sendAsync(request, BodyHandlers.ofString()).thenApply(HttpResponse::body));
 * }</pre>
 *
 * <p>It has no state of its own: Java futures, Kotlin coroutines and {@code select} clauses that use the same semaphore
 * wait in one queue, in the order of their arrival. No method blocks; threads that may block use {@link #blocking()}.
 *
 * <p><i>Order.</i> The order of the semaphore, see {@link WaitOrder}.
 *
 * <p><i>Cancellation.</i> Cancelling the future of an acquire, completing it from outside, or letting {@code orTimeout}
 * expire withdraws the request, and nothing is lost. Cancelling a stage derived from it does not, so keep the future
 * itself to cancel it. A future that is granted permits and never read keeps them; {@link LeakReport} finds such
 * permits. kotlinx's {@code await()} on the future cancels it when the awaiting coroutine is cancelled, and that
 * withdraws the request.
 *
 * <p><i>Callbacks.</i> A future that had to wait is completed by the releasing thread, and its dependents run there,
 * never under a lock of Baton's. When releases and callbacks are nested more than a few levels deep, a thread of
 * Baton's own, {@code baton-callbacks-…}, completes the next future, so that the stack stays flat. Such a thread also
 * completes a future whose timeout has passed. No other code can fill that pool, and its callbacks may block. Give an
 * executor to run the callbacks there instead.
 *
 * <p><i>Failures</i> arrive in the future: {@link SemaphoreClosedException} if the semaphore is closed,
 * {@link PermitTimeoutException} once the timeout has passed. Arguments that can never succeed throw at the call.
 *
 * <p><i>Memory.</i> Actions before the closing of a permit happen before the actions that follow the acquire which gets
 * it next.
 */
public final class AsyncSemaphore implements AutoCloseable {
    private final Semaphore semaphore;
    private final WaitCore core;

    private AsyncSemaphore(Semaphore semaphore) {
        this.semaphore = semaphore;
        this.core = SyncBridge.of(semaphore);
    }

    /** The Java API of the given semaphore; the two share all state. */
    public static AsyncSemaphore of(Semaphore semaphore) {
        return new AsyncSemaphore(Objects.requireNonNull(semaphore, "semaphore"));
    }

    /**
     * A new semaphore that grants in the order of arrival.
     *
     * @throws IllegalArgumentException if {@code permits} is negative
     */
    public static AsyncSemaphore create(int permits) {
        return create(permits, WaitOrder.FIFO, null);
    }

    /** As {@link #create(int)}, with a name for messages and {@code toString}; null for none. */
    public static AsyncSemaphore create(int permits, @Nullable String name) {
        return create(permits, WaitOrder.FIFO, name);
    }

    /** As {@link #create(int)}, in another order. */
    public static AsyncSemaphore create(int permits, WaitOrder order) {
        return create(permits, order, null);
    }

    /** As {@link #create(int, WaitOrder)}, with a name for messages and {@code toString}; null for none. */
    public static AsyncSemaphore create(int permits, WaitOrder order, @Nullable String name) {
        return of(new Semaphore(permits, 0, Objects.requireNonNull(order, "order"), name));
    }

    /** The Kotlin semaphore behind this. */
    public Semaphore kotlin() {
        return semaphore;
    }

    /** A view of the same semaphore for threads that may block. */
    public BlockingSemaphore blocking() {
        return new BlockingSemaphore(semaphore);
    }

    /** As {@link #acquire(int)}, for one permit. */
    public CompletableFuture<Permit> acquire() {
        return acquire(1);
    }

    /**
     * A future of {@code permits} permits as one {@link Permit}. They are granted all at once.
     *
     * @throws IllegalArgumentException if {@code permits} is below 1 or above {@link #permits()}, unless those are 0
     */
    public CompletableFuture<Permit> acquire(int permits) {
        return request(permits, null, null, null);
    }

    /**
     * As {@link #acquire(int)}, but a future that had to wait is completed on {@code executor}; by the releasing thread
     * if the executor rejects that.
     */
    public CompletableFuture<Permit> acquire(int permits, Executor executor) {
        return request(permits, null, Objects.requireNonNull(executor, "executor"), null);
    }

    /** As {@link #acquire(int)}, at a level that counts where the order is {@link WaitOrder#PRIORITY}. */
    public CompletableFuture<Permit> acquire(int permits, Priority priority) {
        return request(permits, Objects.requireNonNull(priority, "priority"), null, null);
    }

    /** As {@link #acquire(int, Duration)}, for one permit. */
    public CompletableFuture<Permit> acquire(Duration timeout) {
        return acquire(1, timeout);
    }

    /**
     * As {@link #acquire(int)}, but fails with {@link PermitTimeoutException} if the permits are not granted in time; then
     * nothing is held. With zero or less it succeeds or fails at once. The timeout is rounded up to whole milliseconds.
     */
    public CompletableFuture<Permit> acquire(int permits, Duration timeout) {
        return request(permits, null, null, Objects.requireNonNull(timeout, "timeout"));
    }

    /** As {@link #acquire(int, Duration)}, at a level that counts where the order is {@link WaitOrder#PRIORITY}. */
    public CompletableFuture<Permit> acquire(int permits, Priority priority, Duration timeout) {
        Objects.requireNonNull(priority, "priority");
        return request(permits, priority, null, Objects.requireNonNull(timeout, "timeout"));
    }

    /**
     * One permit, if it can be granted at once.
     *
     * @throws SemaphoreClosedException if the semaphore is closed
     */
    public Optional<Permit> tryAcquire() {
        return tryAcquire(1);
    }

    /**
     * {@code permits} permits as one, if they can be granted at once.
     *
     * @throws IllegalArgumentException if {@code permits} is below 1 or above {@link #permits()}, unless those are 0
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
    public <T extends @Nullable Object, S extends CompletionStage<T>> CompletableFuture<T> withPermit(
            Supplier<S> action, Executor executor) {
        return withPermits(1, action, executor);
    }

    /**
     * Runs {@code action} while holding {@code permits} permits. They are released when the action's stage has
     * completed, normally or not, or when the action throws. After that the returned future completes as the stage did.
     *
     * <p><i>Cancellation.</i> Cancelling the future, completing it from outside, or letting {@code orTimeout} expire
     * ends the work. While it waits: the request is withdrawn and the action never runs. While the action runs: its
     * stage is cancelled if that is possible, and the permits are released when the stage has completed.
     *
     * @throws IllegalArgumentException if {@code permits} is below 1 or above {@link #permits()}, unless those are 0
     */
    public <T extends @Nullable Object> CompletableFuture<T> withPermits(
            int permits, Supplier<? extends CompletionStage<T>> action) {
        return WithPermitFuture.run(CallerContext.supplier(action), acquire(permits), null);
    }

    /** As {@link #withPermits(int, Supplier)}, with the action run by {@code executor}. */
    public <T extends @Nullable Object, S extends CompletionStage<T>> CompletableFuture<T> withPermits(
            int permits, Supplier<S> action, Executor executor) {
        Objects.requireNonNull(executor, "executor");
        return WithPermitFuture.run(CallerContext.supplier(action), acquire(permits), executor);
    }

    /** As {@link #withPermits(int, Callable, Executor)}, for one permit. */
    public <T extends @Nullable Object> CompletableFuture<T> withPermit(Callable<T> action, Executor executor) {
        return withPermits(1, action, executor);
    }

    /**
     * As {@link #withPermits(int, Supplier, Executor)}, for an action that ends when it returns. Its value, or the
     * exception that it throws, is that of the future. Cancelling the future does not end an action that runs.
     */
    public <T extends @Nullable Object> CompletableFuture<T> withPermits(
            int permits, Callable<T> action, Executor executor) {
        Objects.requireNonNull(executor, "executor");
        return WithPermitFuture.run(CallerContext.supplier(Stages.<T>ofCallable(action)), acquire(permits), executor);
    }

    /** As {@link #withPermits(int, Supplier, Duration)}, for one permit. */
    public <T extends @Nullable Object> CompletableFuture<T> withPermit(
            Supplier<? extends CompletionStage<T>> action, Duration timeout) {
        return withPermits(1, action, timeout);
    }

    /**
     * As {@link #withPermits(int, Supplier)}, but fails with {@link PermitTimeoutException}, and never runs {@code action},
     * if the permits are not granted in time. The action itself may take as long as it takes.
     */
    public <T extends @Nullable Object> CompletableFuture<T> withPermits(
            int permits, Supplier<? extends CompletionStage<T>> action, Duration timeout) {
        return WithPermitFuture.run(CallerContext.supplier(action), acquire(permits, timeout), null);
    }

    /** As {@link #withPermits(int, Callable, Executor, Duration)}, for one permit. */
    public <T extends @Nullable Object> CompletableFuture<T> withPermit(
            Callable<T> action, Executor executor, Duration timeout) {
        return withPermits(1, action, executor, timeout);
    }

    /** As {@link #withPermits(int, Callable, Executor)}, within {@code timeout}; see {@link #withPermits(int, Supplier, Duration)}. */
    public <T extends @Nullable Object> CompletableFuture<T> withPermits(
            int permits, Callable<T> action, Executor executor, Duration timeout) {
        Objects.requireNonNull(executor, "executor");
        return WithPermitFuture.run(
                CallerContext.supplier(Stages.<T>ofCallable(action)), acquire(permits, timeout), executor);
    }

    /**
     * A future that completes as soon as no permit is held. It takes no permits and holds back no other request.
     * Cancelling it withdraws it. In an unfair semaphore a released permit that the first waiter has not taken yet
     * counts as held.
     */
    public CompletableFuture<@Nullable Void> awaitIdle() {
        return WaiterFuture.enqueue(core, SyncBridge.IDLE_WEIGHT, null, null, null, null, null);
    }

    /** The order in which waiting requests are granted. */
    public WaitOrder order() {
        return semaphore.getOrder();
    }

    /** The number of permits, held or not. */
    public int permits() {
        return semaphore.getPermits();
    }

    /** The number of permits that are not held; never negative. */
    public int availablePermits() {
        return semaphore.getAvailablePermits();
    }

    /** The number of waiting requests, of Java and Kotlin callers. */
    public int waiting() {
        return semaphore.getWaiting();
    }

    /**
     * Changes the number of permits. If more are held than a smaller number allows, releases reduce the excess first.
     * Waiting requests for more than the new number fail with {@link IllegalArgumentException}. With 0, all requests
     * wait, whatever their size, until a resize to more.
     *
     * @throws IllegalArgumentException if {@code permits} is negative
     * @throws SemaphoreClosedException if the semaphore is closed
     */
    public void resize(int permits) {
        semaphore.resize(permits);
    }

    /**
     * Fails waiting and later requests with {@link SemaphoreClosedException}. Holders may still close their permits.
     */
    @Override
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

    /** One permit for an action, without a timeout if that is null. */
    CompletableFuture<Permit> permit(@Nullable Duration timeout) {
        return request(1, null, null, timeout);
    }

    private CompletableFuture<Permit> request(
            int permits, @Nullable Priority priority, @Nullable Executor executor, @Nullable Duration timeout) {
        return request(semaphore, permits, new SemaphorePermit(semaphore, permits), priority, executor, timeout);
    }

    /** A future of {@code grant}, which stands for the permits. */
    static CompletableFuture<Permit> request(
            Semaphore semaphore,
            int permits,
            HeldPermit grant,
            @Nullable Priority priority,
            @Nullable Executor executor,
            @Nullable Duration timeout) {
        try {
            if (semaphore.tryAcquire(permits)) return CompletableFuture.completedFuture(grant.handedOut());
        } catch (SemaphoreClosedException e) {
            return CompletableFuture.failedFuture(e);
        }
        Supplier<TimeoutException> late = timeout == null ? null : () -> Late.acquire(permits, timeout, semaphore);
        return WaiterFuture.enqueue(SyncBridge.of(semaphore), permits, priority, grant, executor, timeout, late);
    }

    private Permit handOut(int permits) {
        return new SemaphorePermit(semaphore, permits).handedOut();
    }
}
