package baton.interop;

import baton.PermitTimeoutException;
import baton.interop.internal.futures.LockMode;
import baton.interop.internal.futures.ReadWriteRequests;
import baton.interop.internal.futures.Stages;
import baton.sync.ReadWriteLock;
import baton.sync.ReadWritePolicy;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A {@link ReadWriteLock} for Java: waiting operations return a {@link CompletableFuture}, and a reader or writer has a
 * {@link Permit} that unlocks what it holds. A write permit can be {@linkplain WritePermit#downgrade() downgraded} to
 * reading; an upgradable read permit can be {@linkplain UpgradablePermit#upgrade() upgraded} to writing.
 *
 * <pre>{@code
 * AsyncReadWriteLock lock = AsyncReadWriteLock.create();
 * CompletableFuture<Integer> value = lock.withRead(() -> load(cache, "x"));
 * CompletableFuture<Void> stored = lock.withWrite(() -> store(cache, "x", 1));
 * }</pre>
 *
 * <p>It has no state of its own: Java futures, Kotlin coroutines and {@code select} clauses that use the same lock wait
 * in one queue. No method blocks; threads that may block use {@link #blocking()}. It is not bound to threads: any
 * thread may close the permit.
 *
 * <p><i>Order.</i> The order of the lock, see {@link ReadWritePolicy}.
 *
 * <p><i>Owners.</i> An owner is any object that stands for the holder, compared by identity; {@link #ownedBy} returns a
 * view that locks with one. With an owner, a request that would wait for its own owner for ever fails with {@link
 * IllegalStateException}: to write while holding the lock in any mode, to read in any way while writing, to read
 * upgradably twice, to read again behind a writer that waits for this very reader.
 *
 * <p><i>Cancellation, callbacks.</i> As for {@link AsyncSemaphore}. When a request to write
 * is withdrawn, the readers that it held back are granted at once.
 *
 * <p><i>Memory.</i> Actions before a write permit is closed or downgraded happen before the actions that follow the
 * next lock in any mode. Actions before a read permit is closed happen before the actions that follow the next lock to
 * write.
 */
public final class AsyncReadWriteLock {
    private final ReadWriteLock lock;
    private final ReadWriteRequests requests;

    private AsyncReadWriteLock(ReadWriteLock lock, @Nullable Object owner) {
        this.lock = lock;
        this.requests = new ReadWriteRequests(lock, owner);
    }

    /** The Java API of the given lock; the two share all state. */
    public static AsyncReadWriteLock of(ReadWriteLock lock) {
        return new AsyncReadWriteLock(Objects.requireNonNull(lock, "lock"), null);
    }

    /** A new lock, free, where phases of readers and of writers alternate. */
    public static AsyncReadWriteLock create() {
        return create(ReadWritePolicy.PHASE_FAIR);
    }

    /** As {@link #create()}, with a name for messages and {@code toString}; null for none. */
    public static AsyncReadWriteLock create(@Nullable String name) {
        return create(ReadWritePolicy.PHASE_FAIR, name);
    }

    /** A new lock, free. */
    public static AsyncReadWriteLock create(ReadWritePolicy policy) {
        return create(policy, null);
    }

    /** As {@link #create(ReadWritePolicy)}, with a name for messages and {@code toString}; null for none. */
    public static AsyncReadWriteLock create(ReadWritePolicy policy, @Nullable String name) {
        return of(new ReadWriteLock(Objects.requireNonNull(policy, "policy"), name));
    }

    /** The Kotlin lock behind this. */
    public ReadWriteLock kotlin() {
        return lock;
    }

    /** A view of the same lock for threads that may block. There each thread is its own owner. */
    public BlockingReadWriteLock blocking() {
        return new BlockingReadWriteLock(lock);
    }

    /**
     * A view of the same lock whose requests have an owner. A request that would wait for its own owner fails with
     * {@link IllegalStateException}.
     */
    public AsyncReadWriteLock ownedBy(Object owner) {
        return new AsyncReadWriteLock(lock, Objects.requireNonNull(owner, "owner"));
    }

    // ---- to read

    /** A future that completes when this caller may read. Closing the permit unlocks it. */
    public CompletableFuture<Permit> lockRead() {
        return requests.request(Permit.class, LockMode.READ, null, null);
    }

    /**
     * As {@link #lockRead()}, but a future that had to wait is completed on {@code executor}; by the unlocking thread
     * if the executor rejects that.
     */
    public CompletableFuture<Permit> lockRead(Executor executor) {
        return requests.request(Permit.class, LockMode.READ, Objects.requireNonNull(executor, "executor"), null);
    }

    /**
     * As {@link #lockRead()}, but fails with {@link PermitTimeoutException} if the lock is not granted in time; then the
     * caller holds nothing. With zero or less it succeeds or fails at once. The timeout is rounded up to whole
     * milliseconds.
     */
    public CompletableFuture<Permit> lockRead(Duration timeout) {
        return requests.request(Permit.class, LockMode.READ, null, Objects.requireNonNull(timeout, "timeout"));
    }

    /**
     * Locks it to read if that needs no waiting.
     *
     * @throws IllegalStateException if the owner of this view writes
     */
    public Optional<Permit> tryLockRead() {
        return requests.tryLock(Permit.class, LockMode.READ);
    }

    /**
     * Runs {@code action} while reading. The lock is unlocked when the action's stage has completed, normally or not,
     * or when the action throws. After that the returned future completes as the stage did.
     *
     * <p><i>Cancellation.</i> While it waits: the request is withdrawn and the action never runs. While the action
     * runs: its stage is cancelled if that is possible, and the lock is unlocked when the stage has completed.
     */
    public <T extends @Nullable Object> CompletableFuture<T> withRead(Supplier<? extends CompletionStage<T>> action) {
        return requests.run(LockMode.READ, action, null, null);
    }

    /**
     * As {@link #withRead(Supplier)}, but fails with {@link PermitTimeoutException}, and never runs {@code action}, if the
     * lock is not granted in time. The action itself may take as long as it takes.
     */
    public <T extends @Nullable Object> CompletableFuture<T> withRead(
            Supplier<? extends CompletionStage<T>> action, Duration timeout) {
        return requests.run(LockMode.READ, action, null, Objects.requireNonNull(timeout, "timeout"));
    }

    /** As {@link #withRead(Supplier)}, with the action run by {@code executor}. */
    public <T extends @Nullable Object, S extends CompletionStage<T>> CompletableFuture<T> withRead(
            Supplier<S> action, Executor executor) {
        return requests.run(LockMode.READ, action, Objects.requireNonNull(executor, "executor"), null);
    }

    /**
     * As {@link #withRead(Supplier, Executor)}, for an action that ends when it returns. Its value, or the exception
     * that it throws, is that of the future. Cancelling the future does not end an action that runs.
     */
    public <T extends @Nullable Object> CompletableFuture<T> withRead(Callable<T> action, Executor executor) {
        return requests.run(
                LockMode.READ, Stages.<T>ofCallable(action), Objects.requireNonNull(executor, "executor"), null);
    }

    /** As {@link #withRead(Callable, Executor)}, within {@code timeout}; see {@link #withRead(Supplier, Duration)}. */
    public <T extends @Nullable Object> CompletableFuture<T> withRead(
            Callable<T> action, Executor executor, Duration timeout) {
        return withinTimeout(LockMode.READ, action, executor, timeout);
    }

    // ---- to write

    /** A future that completes when this caller may write, alone. Closing the permit unlocks it. */
    public CompletableFuture<WritePermit> lockWrite() {
        return requests.request(WritePermit.class, LockMode.WRITE, null, null);
    }

    /** As {@link #lockWrite()}, completed on {@code executor}; see {@link #lockRead(Executor)}. */
    public CompletableFuture<WritePermit> lockWrite(Executor executor) {
        return requests.request(WritePermit.class, LockMode.WRITE, Objects.requireNonNull(executor, "executor"), null);
    }

    /**
     * As {@link #lockWrite()}, within {@code timeout}; see {@link #lockRead(Duration)}.
     */
    public CompletableFuture<WritePermit> lockWrite(Duration timeout) {
        return requests.request(WritePermit.class, LockMode.WRITE, null, Objects.requireNonNull(timeout, "timeout"));
    }

    /**
     * Locks it to write if that needs no waiting.
     *
     * @throws IllegalStateException if the owner of this view holds it already, in any mode
     */
    public Optional<WritePermit> tryLockWrite() {
        return requests.tryLock(WritePermit.class, LockMode.WRITE);
    }

    /** Runs {@code action} while writing; all else as {@link #withRead(Supplier)}. */
    public <T extends @Nullable Object> CompletableFuture<T> withWrite(Supplier<? extends CompletionStage<T>> action) {
        return requests.run(LockMode.WRITE, action, null, null);
    }

    /**
     * As {@link #withWrite(Supplier)}, but fails with {@link PermitTimeoutException}, and never runs {@code action}, if the
     * lock is not granted in time. The action itself may take as long as it takes.
     */
    public <T extends @Nullable Object> CompletableFuture<T> withWrite(
            Supplier<? extends CompletionStage<T>> action, Duration timeout) {
        return requests.run(LockMode.WRITE, action, null, Objects.requireNonNull(timeout, "timeout"));
    }

    /** As {@link #withWrite(Supplier)}, with the action run by {@code executor}. */
    public <T extends @Nullable Object, S extends CompletionStage<T>> CompletableFuture<T> withWrite(
            Supplier<S> action, Executor executor) {
        return requests.run(LockMode.WRITE, action, Objects.requireNonNull(executor, "executor"), null);
    }

    /** As {@link #withWrite(Supplier, Executor)}, for an action as in {@link #withRead(Callable, Executor)}. */
    public <T extends @Nullable Object> CompletableFuture<T> withWrite(Callable<T> action, Executor executor) {
        return requests.run(
                LockMode.WRITE, Stages.<T>ofCallable(action), Objects.requireNonNull(executor, "executor"), null);
    }

    /** As {@link #withWrite(Callable, Executor)}, within {@code timeout}; see {@link #withWrite(Supplier, Duration)}. */
    public <T extends @Nullable Object> CompletableFuture<T> withWrite(
            Callable<T> action, Executor executor, Duration timeout) {
        return withinTimeout(LockMode.WRITE, action, executor, timeout);
    }

    private <T extends @Nullable Object> CompletableFuture<T> withinTimeout(
            LockMode mode, Callable<T> action, Executor executor, Duration timeout) {
        Objects.requireNonNull(executor, "executor");
        return requests.run(mode, Stages.<T>ofCallable(action), executor, Objects.requireNonNull(timeout, "timeout"));
    }

    // ---- to read upgradably

    /**
     * A future that completes when this caller may read upgradably: beside readers, but not beside a writer or another
     * upgradable reader. Closing the permit unlocks it, upgraded or not.
     */
    public CompletableFuture<UpgradablePermit> lockUpgradable() {
        return requests.request(UpgradablePermit.class, LockMode.UPGRADABLE, null, null);
    }

    /** As {@link #lockUpgradable()}, completed on {@code executor}; see {@link #lockRead(Executor)}. */
    public CompletableFuture<UpgradablePermit> lockUpgradable(Executor executor) {
        return requests.request(
                UpgradablePermit.class, LockMode.UPGRADABLE, Objects.requireNonNull(executor, "executor"), null);
    }

    /**
     * As {@link #lockUpgradable()}, within {@code timeout}; see {@link #lockRead(Duration)}.
     */
    public CompletableFuture<UpgradablePermit> lockUpgradable(Duration timeout) {
        return requests.request(
                UpgradablePermit.class, LockMode.UPGRADABLE, null, Objects.requireNonNull(timeout, "timeout"));
    }

    /**
     * Locks it to read upgradably if that needs no waiting.
     *
     * @throws IllegalStateException if the owner of this view writes or reads upgradably
     */
    public Optional<UpgradablePermit> tryLockUpgradable() {
        return requests.tryLock(UpgradablePermit.class, LockMode.UPGRADABLE);
    }

    // ---- state

    /** The policy that decides between waiting readers and writers. */
    public ReadWritePolicy policy() {
        return lock.getPolicy();
    }

    /** The number of readers, the upgradable one included. */
    public int readers() {
        return lock.getReaders();
    }

    /** Whether a writer holds it. */
    public boolean isWriteLocked() {
        return lock.isWriteLocked();
    }

    /** The owner that writes; empty if there is no writer, or a writer without an owner. */
    public Optional<Object> writeHolder() {
        return Optional.ofNullable(lock.getWriteHolder());
    }

    /** The owners that read, in no particular order, each once. Readers without an owner are not included. */
    public List<Object> readHolders() {
        return lock.getReadHolders();
    }

    /** The number of requests that wait to read, to write or to upgrade, of Java and Kotlin callers. */
    public int waiting() {
        return lock.getWaiting();
    }

    @Override
    public String toString() {
        return "Async" + lock;
    }

    /** The owner of this view, or null. */
    @Nullable
    Object owner() {
        return requests.owner;
    }
}
