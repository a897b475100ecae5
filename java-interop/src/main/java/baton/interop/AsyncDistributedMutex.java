package baton.interop;

import baton.PermitTimeoutException;
import baton.distributed.DistributedMutex;
import baton.distributed.Lease;
import baton.distributed.LeaseLostException;
import baton.distributed.LockHolder;
import baton.distributed.bridge.DistributedBridge;
import baton.interop.internal.futures.LeaseRequests;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A {@link DistributedMutex} for Java. All that is said of {@link AsyncDistributedSemaphore} holds for its one permit. It
 * is not reentrant: a holder that locks again waits for itself.
 *
 * <pre>{@code
 * cluster.mutex("account").withLock(lease -> table.write(row, lease.fencingToken()));
 * }</pre>
 */
@SuppressWarnings("exports") // of baton.distributed, which the callers require
public final class AsyncDistributedMutex implements AsyncCallGuard {
    private final DistributedMutex mutex;
    private final LeaseRequests requests;

    private AsyncDistributedMutex(DistributedMutex mutex) {
        this.mutex = mutex;
        this.requests = new LeaseRequests(DistributedBridge.of(mutex), "lock", mutex);
    }

    /** The Java API of the given mutex; the two share all state. */
    public static AsyncDistributedMutex of(DistributedMutex mutex) {
        return new AsyncDistributedMutex(Objects.requireNonNull(mutex, "mutex"));
    }

    /** The Kotlin mutex behind this. */
    public DistributedMutex kotlin() {
        return mutex;
    }

    /** A view of the same mutex for threads that may block. */
    public BlockingDistributedMutex blocking() {
        return new BlockingDistributedMutex(mutex, requests);
    }

    /** A future of the lease. */
    public CompletableFuture<Lease> lock() {
        return requests.acquire(1, null);
    }

    /**
     * As {@link #lock()}, but fails with {@link PermitTimeoutException} if the mutex is not granted in time. The message
     * names the member that has it. With zero or less it looks into the store once.
     */
    public CompletableFuture<Lease> lock(Duration timeout) {
        return requests.acquire(1, Objects.requireNonNull(timeout, "timeout"));
    }

    /** As {@link #lock(Duration)}, for an {@link AsyncPipeline}. */
    @Override
    public CompletableFuture<Lease> acquire(Duration maxWait) {
        return lock(maxWait);
    }

    /** The lease if no other holder must unlock it, after at most one look into the store; else empty. */
    public CompletableFuture<Optional<Lease>> tryLock() {
        return requests.tryAcquire(1);
    }

    /**
     * Runs {@code action} while holding the mutex, until the action's stage has completed. If the lease is lost
     * meanwhile, the stage is cancelled if that is possible, and then the future fails with {@link LeaseLostException}.
     * Cancellation is that of {@link AsyncDistributedSemaphore#withPermit(Supplier)}.
     */
    public <T extends @Nullable Object> CompletableFuture<T> withLock(Supplier<? extends CompletionStage<T>> action) {
        return requests.with(1, null, LeaseRequests.ofSupplier(action));
    }

    /** As {@link #withLock(Supplier)}, with the lease as an argument of the action. */
    public <T extends @Nullable Object> CompletableFuture<T> withLock(
            Function<? super Lease, ? extends CompletionStage<T>> action) {
        return requests.with(1, null, action);
    }

    /**
     * As {@link #withLock(Supplier)}, but fails with {@link PermitTimeoutException}, and never runs {@code action}, if the
     * mutex is not granted in time.
     */
    public <T extends @Nullable Object> CompletableFuture<T> withLock(
            Supplier<? extends CompletionStage<T>> action, Duration timeout) {
        return requests.with(1, Objects.requireNonNull(timeout, "timeout"), LeaseRequests.ofSupplier(action));
    }

    /** As {@link #withLock(Supplier, Duration)}, with the lease as an argument of the action. */
    public <T extends @Nullable Object> CompletableFuture<T> withLock(
            Function<? super Lease, ? extends CompletionStage<T>> action, Duration timeout) {
        return requests.with(1, Objects.requireNonNull(timeout, "timeout"), action);
    }

    /** Whether a member has it, in use or kept for its next use, as this member has seen it last. */
    public boolean isLocked() {
        return mutex.isLocked();
    }

    /** The member that has it, as {@link #isLocked}. */
    public Optional<LockHolder> holder() {
        return Optional.ofNullable(mutex.getHolder());
    }

    /** Whether a caller of this JVM holds it. */
    public boolean isHeldHere() {
        return mutex.isHeldHere();
    }

    /** How many callers of this JVM wait. */
    public int waiting() {
        return mutex.getWaiting();
    }

    @Override
    public String toString() {
        return "Async" + mutex;
    }
}
