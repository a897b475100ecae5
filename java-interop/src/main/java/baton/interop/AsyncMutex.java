package baton.interop;

import baton.bridge.SyncBridge;
import baton.interop.internal.futures.Late;
import baton.interop.internal.futures.MutexPermit;
import baton.interop.internal.futures.Timeout;
import baton.interop.internal.futures.WaiterFuture;
import baton.interop.internal.futures.WithPermitFuture;
import baton.sync.Mutex;
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
 * <p><i>Owners.</i> An owner is any object that stands for the holder, compared by identity. With an owner, locking
 * twice fails with {@link IllegalStateException}; it would wait for itself for ever otherwise. The owner is always the
 * first argument. As the only argument, an executor is an owner like any other; a {@link Duration} is a timeout, unless
 * it is cast to {@code Object}.
 *
 * <p><i>Cancellation, callbacks, memory.</i> As for {@link AsyncSemaphore}.
 */
public final class AsyncMutex {
    private final Mutex mutex;
    private final WaitCore core;

    private AsyncMutex(Mutex mutex) {
        this.mutex = mutex;
        this.core = SyncBridge.of(mutex);
    }

    /** The Java API of the given mutex; the two share all state. */
    public static AsyncMutex of(Mutex mutex) {
        return new AsyncMutex(Objects.requireNonNull(mutex, "mutex"));
    }

    /** A new mutex, free. */
    public static AsyncMutex create() {
        return create(null);
    }

    /**
     * A new mutex, free.
     *
     * @param name shown by messages and {@code toString}, or null
     */
    public static AsyncMutex create(@Nullable String name) {
        return of(new Mutex(false, name));
    }

    /** The Kotlin mutex behind this. */
    public Mutex kotlin() {
        return mutex;
    }

    /** A view of the same mutex for threads that may block. */
    public BlockingMutex blocking() {
        return new BlockingMutex(mutex);
    }

    /** A future that completes when this caller holds the mutex. Closing the permit unlocks it. */
    public CompletableFuture<Permit> lock() {
        return request(null, null);
    }

    /**
     * As {@link #lock()}, with an owner; fails with {@link IllegalStateException} if that owner holds it already.
     *
     * @param owner not a {@link Duration}, which would be taken for a timeout
     */
    public CompletableFuture<Permit> lock(Object owner) {
        return request(Objects.requireNonNull(owner, "owner"), null);
    }

    /**
     * As {@link #lock(Object)}, but a future that had to wait is completed on {@code executor}; by the unlocking thread
     * if the executor rejects that.
     *
     * @param owner null for none; so an executor and an owner are never mistaken for each other
     */
    public CompletableFuture<Permit> lock(@Nullable Object owner, Executor executor) {
        return request(owner, Objects.requireNonNull(executor, "executor"));
    }

    /**
     * As {@link #lock()}, but fails with {@link TimeoutException} if the mutex is not granted in time; then this caller
     * does not hold it. With zero or less it succeeds or fails at once. The timeout is rounded up to whole
     * milliseconds.
     */
    public CompletableFuture<Permit> lock(Duration timeout) {
        return requestWithin(null, timeout);
    }

    /**
     * As {@link #lock(Duration)}, with an owner; fails at once with {@link IllegalStateException} if that owner holds
     * it already.
     */
    public CompletableFuture<Permit> lock(Object owner, Duration timeout) {
        return requestWithin(Objects.requireNonNull(owner, "owner"), timeout);
    }

    /** Locks it if it is free. */
    public Optional<Permit> tryLock() {
        return mutex.tryLock(null) ? Optional.of(handOut(null)) : Optional.empty();
    }

    /**
     * Locks it if it is free, with an owner.
     *
     * @throws IllegalStateException if that owner holds it already
     */
    public Optional<Permit> tryLock(Object owner) {
        Objects.requireNonNull(owner, "owner");
        return mutex.tryLock(owner) ? Optional.of(handOut(owner)) : Optional.empty();
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
        Objects.requireNonNull(action, "action");
        return WithPermitFuture.run(lock(), action, null);
    }

    /**
     * As {@link #withLock(Supplier)}, with an owner; fails with {@link IllegalStateException} if that owner holds it
     * already.
     */
    public <T extends @Nullable Object> CompletableFuture<T> withLock(
            Object owner, Supplier<? extends CompletionStage<T>> action) {
        Objects.requireNonNull(owner, "owner");
        Objects.requireNonNull(action, "action");
        return WithPermitFuture.run(request(owner, null), action, null);
    }

    /** As {@link #withLock(Supplier)}, with the action run by {@code executor}. */
    public <T extends @Nullable Object> CompletableFuture<T> withLock(
            Supplier<? extends CompletionStage<T>> action, Executor executor) {
        Objects.requireNonNull(action, "action");
        Objects.requireNonNull(executor, "executor");
        return WithPermitFuture.run(lock(), action, executor);
    }

    /** As {@link #withLock(Object, Supplier)}, with the action run by {@code executor}. */
    public <T extends @Nullable Object> CompletableFuture<T> withLock(
            Object owner, Supplier<? extends CompletionStage<T>> action, Executor executor) {
        Objects.requireNonNull(owner, "owner");
        Objects.requireNonNull(action, "action");
        Objects.requireNonNull(executor, "executor");
        return WithPermitFuture.run(request(owner, null), action, executor);
    }

    /**
     * As {@link #withLock(Supplier)}, but fails with {@link TimeoutException}, and never runs {@code action}, if the
     * mutex is not granted in time. The action itself may take as long as it takes.
     */
    public <T extends @Nullable Object> CompletableFuture<T> withLock(
            Supplier<? extends CompletionStage<T>> action, Duration timeout) {
        Objects.requireNonNull(action, "action");
        return WithPermitFuture.run(lock(timeout), action, null);
    }

    /** A new condition, on which holders of this mutex can wait. */
    public AsyncCondition newCondition() {
        return newCondition(null);
    }

    /**
     * A new condition, on which holders of this mutex can wait.
     *
     * @param name shown by messages and {@code toString}, or null
     */
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

    /** The number of waiting requests, of Java and Kotlin callers. */
    public int waiting() {
        return mutex.getWaiting();
    }

    @Override
    public String toString() {
        return "Async" + mutex;
    }

    private CompletableFuture<Permit> request(@Nullable Object owner, @Nullable Executor executor) {
        CompletableFuture<Permit> decided = atOnce(owner);
        if (decided != null) return decided;
        return WaiterFuture.enqueue(core, 1, owner, new MutexPermit(mutex, owner), executor);
    }

    private CompletableFuture<Permit> requestWithin(@Nullable Object owner, Duration timeout) {
        long millis = Timeout.millis(timeout);
        CompletableFuture<Permit> decided = atOnce(owner);
        if (decided != null) return decided;
        Supplier<String> message = () -> Late.lock(timeout, mutex);
        if (millis == 0) return CompletableFuture.failedFuture(new TimeoutException(message.get()));
        return WaiterFuture.enqueue(core, 1, owner, new MutexPermit(mutex, owner), millis, message);
    }

    /** The completed future of a request that need not wait, or null. */
    private @Nullable CompletableFuture<Permit> atOnce(@Nullable Object owner) {
        try {
            return mutex.tryLock(owner) ? CompletableFuture.completedFuture(handOut(owner)) : null;
        } catch (IllegalStateException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private Permit handOut(@Nullable Object owner) {
        return new MutexPermit(mutex, owner).handedOut();
    }
}
