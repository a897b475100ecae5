package baton.interop;

import baton.PermitTimeoutException;
import baton.bridge.SyncBridge;
import baton.interop.internal.futures.CallerContext;
import baton.interop.internal.futures.HeldPermit;
import baton.interop.internal.futures.Late;
import baton.interop.internal.futures.MutexPermit;
import baton.interop.internal.futures.Stages;
import baton.interop.internal.futures.WaiterFuture;
import baton.interop.internal.futures.WithPermitFuture;
import baton.sync.Mutex;
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
 * A {@link Mutex} for Java: waiting operations return a {@link CompletableFuture}, and the holder has a {@link Permit}
 * that unlocks it.
 *
 * <pre>{@code
 * AsyncMutex mutex = AsyncMutex.create();
 * CompletableFuture<Integer> next = mutex.withLock(() -> load().thenCompose(n -> store(n + 1)));
 * }</pre>
 *
 * <p>It has no state of its own: Java futures, Kotlin coroutines and {@code select} clauses that use the same mutex
 * wait in one queue and are granted strictly in the order of their arrival. No method blocks; threads that may block
 * use {@link #blocking()}. It is not bound to threads: any thread may close the permit.
 *
 * <p><i>Owners.</i> An owner is any object that stands for the holder, compared by identity; {@link #ownedBy} returns a
 * view that locks with one. With an owner, locking twice fails with {@link IllegalStateException}; it would wait for
 * itself for ever otherwise.
 *
 * <p><i>Cancellation, callbacks, memory.</i> As for {@link AsyncSemaphore}.
 */
public final class AsyncMutex {
    private final Mutex mutex;
    private final @Nullable Object owner;

    private AsyncMutex(Mutex mutex, @Nullable Object owner) {
        this.mutex = mutex;
        this.owner = owner;
    }

    /** The Java API of the given mutex; the two share all state. */
    public static AsyncMutex of(Mutex mutex) {
        return new AsyncMutex(Objects.requireNonNull(mutex, "mutex"), null);
    }

    /** A new mutex, free. */
    public static AsyncMutex create() {
        return create(null);
    }

    /** As {@link #create()}, with a name for messages and {@code toString}; null for none. */
    public static AsyncMutex create(@Nullable String name) {
        return of(new Mutex(false, name));
    }

    /** The Kotlin mutex behind this. */
    public Mutex kotlin() {
        return mutex;
    }

    /** A view of the same mutex for threads that may block. There each thread is its own owner. */
    public BlockingMutex blocking() {
        return new BlockingMutex(mutex);
    }

    /**
     * A view of the same mutex whose requests have an owner. A request whose owner holds the mutex already fails with
     * {@link IllegalStateException}.
     */
    public AsyncMutex ownedBy(Object owner) {
        return new AsyncMutex(mutex, Objects.requireNonNull(owner, "owner"));
    }

    /** A future that completes when this caller holds the mutex. Closing the permit unlocks it. */
    public CompletableFuture<Permit> lock() {
        return request(null, null);
    }

    /**
     * As {@link #lock()}, but a future that had to wait is completed on {@code executor}; by the unlocking thread if
     * the executor rejects that.
     */
    public CompletableFuture<Permit> lock(Executor executor) {
        return request(Objects.requireNonNull(executor, "executor"), null);
    }

    /**
     * As {@link #lock()}, but fails with {@link PermitTimeoutException} if the mutex is not granted in time; then this caller
     * does not hold it. With zero or less it succeeds or fails at once. The timeout is rounded up to whole
     * milliseconds.
     */
    public CompletableFuture<Permit> lock(Duration timeout) {
        return request(null, Objects.requireNonNull(timeout, "timeout"));
    }

    /**
     * Locks it if it is free.
     *
     * @throws IllegalStateException if the owner of this view holds it already
     */
    public Optional<Permit> tryLock() {
        return mutex.tryLock(owner) ? Optional.of(handOut()) : Optional.empty();
    }

    /**
     * Runs {@code action} while holding the mutex. It is unlocked when the action's stage has completed, normally or
     * not, or when the action throws. After that the returned future completes as the stage did.
     *
     * <p><i>Cancellation.</i> Cancelling the future, completing it from outside, or letting {@code orTimeout} expire
     * ends the work. While it waits: the request is withdrawn and the action never runs. While the action runs: its
     * stage is cancelled if that is possible, and the mutex is unlocked when the stage has completed.
     */
    public <T extends @Nullable Object> CompletableFuture<T> withLock(Supplier<? extends CompletionStage<T>> action) {
        return WithPermitFuture.run(CallerContext.supplier(action), lock(), null);
    }

    /** As {@link #withLock(Supplier)}, with the action run by {@code executor}. */
    public <T extends @Nullable Object, S extends CompletionStage<T>> CompletableFuture<T> withLock(
            Supplier<S> action, Executor executor) {
        Objects.requireNonNull(executor, "executor");
        return WithPermitFuture.run(CallerContext.supplier(action), lock(), executor);
    }

    /**
     * As {@link #withLock(Supplier, Executor)}, for an action that ends when it returns. Its value, or the exception
     * that it throws, is that of the future. Cancelling the future does not end an action that runs.
     */
    public <T extends @Nullable Object> CompletableFuture<T> withLock(Callable<T> action, Executor executor) {
        Objects.requireNonNull(executor, "executor");
        return WithPermitFuture.run(CallerContext.supplier(Stages.<T>ofCallable(action)), lock(), executor);
    }

    /**
     * As {@link #withLock(Supplier)}, but fails with {@link PermitTimeoutException}, and never runs {@code action}, if the
     * mutex is not granted in time. The action itself may take as long as it takes.
     */
    public <T extends @Nullable Object> CompletableFuture<T> withLock(
            Supplier<? extends CompletionStage<T>> action, Duration timeout) {
        return WithPermitFuture.run(CallerContext.supplier(action), lock(timeout), null);
    }

    /** As {@link #withLock(Callable, Executor)}, within {@code timeout}; see {@link #withLock(Supplier, Duration)}. */
    public <T extends @Nullable Object> CompletableFuture<T> withLock(
            Callable<T> action, Executor executor, Duration timeout) {
        Objects.requireNonNull(executor, "executor");
        return WithPermitFuture.run(CallerContext.supplier(Stages.<T>ofCallable(action)), lock(timeout), executor);
    }

    /** A new condition, on which holders of this mutex can wait. */
    public AsyncCondition newCondition() {
        return newCondition(null);
    }

    /** As {@link #newCondition()}, with a name for messages and {@code toString}; null for none. */
    public AsyncCondition newCondition(@Nullable String name) {
        return AsyncCondition.of(mutex.newCondition(name));
    }

    /** Whether it is held. */
    public boolean isLocked() {
        return mutex.isLocked();
    }

    /** The owner with which it was locked; empty if it is free or was locked without an owner. */
    public Optional<Object> holder() {
        return Optional.ofNullable(mutex.getHolder());
    }

    /** Whether it was locked with this owner, compared by identity, and has not been unlocked. */
    public boolean holdsLock(Object owner) {
        return mutex.holdsLock(Objects.requireNonNull(owner, "owner"));
    }

    /** The number of waiting requests, of Java and Kotlin callers. */
    public int waiting() {
        return mutex.getWaiting();
    }

    @Override
    public String toString() {
        return "Async" + mutex;
    }

    /** The owner of this view, or null. */
    @Nullable
    Object owner() {
        return owner;
    }

    private CompletableFuture<Permit> request(@Nullable Executor executor, @Nullable Duration timeout) {
        return request(mutex, owner, new MutexPermit(mutex, owner), executor, timeout);
    }

    /** A future of {@code grant}, which stands for the lock. */
    static CompletableFuture<Permit> request(
            Mutex mutex,
            @Nullable Object owner,
            HeldPermit grant,
            @Nullable Executor executor,
            @Nullable Duration timeout) {
        try {
            if (mutex.tryLock(owner)) return CompletableFuture.completedFuture(grant.handedOut());
        } catch (IllegalStateException e) {
            return CompletableFuture.failedFuture(e);
        }
        Supplier<TimeoutException> late = timeout == null ? null : () -> Late.lock(timeout, mutex);
        return WaiterFuture.enqueue(SyncBridge.of(mutex), 1, owner, grant, executor, timeout, late);
    }

    private Permit handOut() {
        return new MutexPermit(mutex, owner).handedOut();
    }
}
