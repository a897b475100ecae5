package baton.interop;

import baton.PermitTimeoutException;
import baton.distributed.DistributedSemaphore;
import baton.distributed.Lease;
import baton.distributed.LeaseLostException;
import baton.distributed.LockHolder;
import baton.distributed.StoreUnavailableException;
import baton.distributed.bridge.DistributedBridge;
import baton.interop.internal.futures.LeaseRequests;
import baton.sync.SemaphoreClosedException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A {@link DistributedSemaphore} for Java: waiting operations return a {@link CompletableFuture}, and a holder has a
 * {@link Lease}.
 *
 * <pre>{@code
 * AsyncDistributedSemaphore atMostFive = cluster.semaphore("uplink", 5);
 * CompletableFuture<String> body = atMostFive.withPermit(() -> fetch("/prices"));
 * CompletableFuture<Void> written = atMostFive.withPermit(lease -> table.write(row, lease.fencingToken()));
 * }</pre>
 *
 * <p>It has no state of its own: futures, threads and coroutines wait in one queue. Order, waiting and loss are described
 * at {@link DistributedSemaphore}.
 *
 * <p><i>Cancellation.</i> Cancelling the future of an acquire, completing it from outside, or letting {@code orTimeout}
 * expire withdraws the request. A lease that is granted at that moment is released.
 *
 * <p><i>Callbacks.</i> Dependents of a future that had to wait run on a callback thread of Baton.
 *
 * <p><i>Failures</i> arrive in the future: {@link PermitTimeoutException} once the timeout has passed, with the members
 * that have the permits; {@link StoreUnavailableException} if the store is away then; {@link SemaphoreClosedException} if
 * the cluster is closed; {@link LeaseLostException} of a {@code withPermit}. Arguments that can never succeed throw at
 * the call.
 */
@SuppressWarnings("exports") // of baton.distributed, which the callers require
public final class AsyncDistributedSemaphore implements AsyncCallGuard {
    private final DistributedSemaphore semaphore;
    private final LeaseRequests requests;

    private AsyncDistributedSemaphore(DistributedSemaphore semaphore) {
        this.semaphore = semaphore;
        this.requests = new LeaseRequests(DistributedBridge.of(semaphore), "acquire", semaphore);
    }

    /** The Java API of the given semaphore; the two share all state. */
    public static AsyncDistributedSemaphore of(DistributedSemaphore semaphore) {
        return new AsyncDistributedSemaphore(Objects.requireNonNull(semaphore, "semaphore"));
    }

    /** The Kotlin semaphore behind this. */
    public DistributedSemaphore kotlin() {
        return semaphore;
    }

    /** A view of the same semaphore for threads that may block. */
    public BlockingDistributedSemaphore blocking() {
        return new BlockingDistributedSemaphore(semaphore, requests);
    }

    /** As {@link #acquire(int)}, for one permit. */
    public CompletableFuture<Lease> acquire() {
        return acquire(1);
    }

    /**
     * A future of the lease of {@code permits} permits.
     *
     * @throws IllegalArgumentException if {@code permits} is below 1 or above {@link #permits()}
     */
    public CompletableFuture<Lease> acquire(int permits) {
        return requests.acquire(permits, null);
    }

    /** As {@link #acquire(int, Duration)}, for one permit. */
    @Override
    public CompletableFuture<Lease> acquire(Duration timeout) {
        return acquire(1, timeout);
    }

    /**
     * As {@link #acquire(int)}, but fails with {@link PermitTimeoutException} if the permits are not granted in time. With
     * zero or less it looks into the store once.
     */
    public CompletableFuture<Lease> acquire(int permits, Duration timeout) {
        return requests.acquire(permits, Objects.requireNonNull(timeout, "timeout"));
    }

    /** As {@link #tryAcquire(int)}, for one permit. */
    public CompletableFuture<Optional<Lease>> tryAcquire() {
        return tryAcquire(1);
    }

    /**
     * The lease of {@code permits} permits if no other holder must release any, after at most one look into the store;
     * else empty. Keep the future to cancel it: a lease that comes after that is released.
     */
    public CompletableFuture<Optional<Lease>> tryAcquire(int permits) {
        return requests.tryAcquire(permits);
    }

    /**
     * Runs {@code action} with one permit, and releases the permit when the action's stage has completed, however it
     * completes. The returned future completes as that stage does, or with what the action throws. If the lease is lost
     * meanwhile, the stage is cancelled if that is possible, and once it has completed the future fails with {@link
     * LeaseLostException}.
     *
     * <p><i>Cancellation.</i> Cancelling the future ends the work. While it waits: the request is withdrawn and the action
     * never runs. While the action runs: its stage is cancelled if that is possible.
     */
    public <T extends @Nullable Object> CompletableFuture<T> withPermit(Supplier<? extends CompletionStage<T>> action) {
        return requests.with(1, null, LeaseRequests.ofSupplier(action));
    }

    /** As {@link #withPermit(Supplier)}, with the lease as an argument of the action. */
    public <T extends @Nullable Object> CompletableFuture<T> withPermit(
            Function<? super Lease, ? extends CompletionStage<T>> action) {
        return requests.with(1, null, action);
    }

    /**
     * As {@link #withPermit(Supplier)}, but fails with {@link PermitTimeoutException}, and never runs {@code action}, if
     * the permit is not granted in time. The action itself may take as long as it takes.
     */
    public <T extends @Nullable Object> CompletableFuture<T> withPermit(
            Supplier<? extends CompletionStage<T>> action, Duration timeout) {
        return requests.with(1, Objects.requireNonNull(timeout, "timeout"), LeaseRequests.ofSupplier(action));
    }

    /** As {@link #withPermit(Supplier, Duration)}, with the lease as an argument of the action. */
    public <T extends @Nullable Object> CompletableFuture<T> withPermit(
            Function<? super Lease, ? extends CompletionStage<T>> action, Duration timeout) {
        return requests.with(1, Objects.requireNonNull(timeout, "timeout"), action);
    }

    /** As {@link #withPermit(Function)}, with {@code permits} permits. */
    public <T extends @Nullable Object> CompletableFuture<T> withPermits(
            int permits, Function<? super Lease, ? extends CompletionStage<T>> action) {
        return requests.with(permits, null, action);
    }

    /** As {@link #withPermit(Function, Duration)}, with {@code permits} permits. */
    public <T extends @Nullable Object> CompletableFuture<T> withPermits(
            int permits, Function<? super Lease, ? extends CompletionStage<T>> action, Duration timeout) {
        return requests.with(permits, Objects.requireNonNull(timeout, "timeout"), action);
    }

    /** Changes the number of permits for all members, in the background. */
    public void resize(int permits) {
        semaphore.resize(permits);
    }

    /** The number of permits of all members together, as this one knows it. */
    public int permits() {
        return semaphore.getPermits();
    }

    /** The members that have permits, in use or kept, as this one has seen it last. */
    public List<LockHolder> holders() {
        return semaphore.getHolders();
    }

    /** How many callers of this JVM wait. */
    public int waiting() {
        return semaphore.getWaiting();
    }

    @Override
    public String toString() {
        return "Async" + semaphore;
    }
}
