package baton.interop;

import baton.PermitTimeoutException;
import baton.TooManyKeysException;
import baton.bridge.KeyBridge;
import baton.interop.internal.futures.AllLocks;
import baton.interop.internal.futures.CallerContext;
import baton.interop.internal.futures.LeasedCalls;
import baton.interop.internal.futures.LeasedPermit;
import baton.interop.internal.futures.MutexPermit;
import baton.interop.internal.futures.WithPermitFuture;
import baton.sync.Mutex;
import baton.sync.Mutexes;
import baton.waiting.keys.KeyEntry;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * {@link Mutexes} for Java: callers of one key exclude each other, callers of different keys do not.
 *
 * <pre>{@code
 * AsyncMutexes<AccountId> locks = AsyncMutexes.create();
 * CompletableFuture<Integer> balance = locks.withLock(id, () -> load(id).thenCompose(n -> store(id, n + 1)));
 * CompletableFuture<Boolean> moved = locks.withLocks(List.of(from, to), () -> transfer(from, to));
 * }</pre>
 *
 * <p>It has no state of its own. A key that is not in use takes no memory. <i>Order, cancellation, callbacks, memory.</i>
 * As {@link AsyncMutex}, for each key by itself. It is not reentrant. Keys must not change their {@code equals} and
 * {@code hashCode}.
 */
public final class AsyncMutexes<K> {
    private final Mutexes<K> mutexes;
    private final LeasedCalls<K, Mutex> calls;

    private AsyncMutexes(Mutexes<K> mutexes) {
        this.mutexes = mutexes;
        this.calls = new LeasedCalls<>(KeyBridge.of(mutexes));
    }

    /** The Java API of the given mutexes; the two share all state. */
    public static <K> AsyncMutexes<K> of(Mutexes<K> mutexes) {
        return new AsyncMutexes<>(Objects.requireNonNull(mutexes, "mutexes"));
    }

    /** A mutex for each key, for at most 100,000 keys in use. */
    public static <K> AsyncMutexes<K> create() {
        return create(KeyBridge.DEFAULT_MAX_KEYS, null);
    }

    /**
     * As {@link #create()}, with all settings of {@link Mutexes}.
     *
     * @throws IllegalArgumentException if {@code maxKeys} is below 1
     */
    public static <K> AsyncMutexes<K> create(int maxKeys, @Nullable String name) {
        return of(new Mutexes<>(maxKeys, name));
    }

    /** The Kotlin object behind this. */
    public Mutexes<K> kotlin() {
        return mutexes;
    }

    /** A view of the same mutexes for threads that may block. There each thread is its own owner. */
    public BlockingMutexes<K> blocking() {
        return new BlockingMutexes<>(mutexes);
    }

    /**
     * Runs {@code action} while holding the mutex of {@code key}, see {@link AsyncMutex#withLock(Supplier)}. Fails with
     * {@link TooManyKeysException} if the key is not in use and there is no place for it.
     */
    public <T extends @Nullable Object> CompletableFuture<T> withLock(
            K key, Supplier<? extends CompletionStage<T>> action) {
        return calls.holding(key, action, null, null, AsyncMutexes::request);
    }

    /** As {@link #withLock(Object, Supplier)}, for an action that {@code executor} runs and that ends when it returns. */
    public <T extends @Nullable Object> CompletableFuture<T> withLock(K key, Callable<T> action, Executor executor) {
        return calls.holding(key, LeasedCalls.<T>ofCallable(action, executor), executor, null, AsyncMutexes::request);
    }

    /**
     * As {@link #withLock(Object, Supplier)}, but fails with {@link PermitTimeoutException}, and never runs
     * {@code action}, if it would have to wait longer than {@code timeout}.
     */
    public <T extends @Nullable Object> CompletableFuture<T> withLock(
            K key, Supplier<? extends CompletionStage<T>> action, Duration timeout) {
        Objects.requireNonNull(timeout, "timeout");
        return calls.holding(key, action, null, timeout, AsyncMutexes::request);
    }

    /** As the two others together. */
    public <T extends @Nullable Object> CompletableFuture<T> withLock(
            K key, Callable<T> action, Executor executor, Duration timeout) {
        Objects.requireNonNull(timeout, "timeout");
        return calls.holding(
                key, LeasedCalls.<T>ofCallable(action, executor), executor, timeout, AsyncMutexes::request);
    }

    /**
     * Runs {@code action} while holding the mutexes of all {@code keys}, one of which may be named twice. They are locked
     * one after the other, in an order of their own that is the same for all callers, so calls of this do not deadlock.
     * They are unlocked when the action's stage has completed, or when the action throws.
     *
     * <p><i>Cancellation.</i> As {@link #withLock(Object, Supplier)}: a request that is withdrawn holds none of them.
     */
    public <T extends @Nullable Object> CompletableFuture<T> withLocks(
            Collection<? extends K> keys, Supplier<? extends CompletionStage<T>> action) {
        return lockAll(keys, action, null);
    }

    /** As the other, for an action that {@code executor} runs and that ends when it returns. */
    public <T extends @Nullable Object> CompletableFuture<T> withLocks(
            Collection<? extends K> keys, Callable<T> action, Executor executor) {
        return lockAll(keys, LeasedCalls.<T>ofCallable(action, executor), executor);
    }

    private <T extends @Nullable Object> CompletableFuture<T> lockAll(
            Collection<? extends K> keys, Supplier<? extends CompletionStage<T>> action, @Nullable Executor executor) {
        Collection<K> all = List.copyOf(Objects.requireNonNull(keys, "keys"));
        Supplier<? extends CompletionStage<T>> inContext = CallerContext.supplier(action);
        CompletableFuture<Permit> grant;
        try {
            grant = AllLocks.request(calls.table.leaseAll(all));
        } catch (TooManyKeysException e) {
            return CompletableFuture.failedFuture(e);
        }
        return WithPermitFuture.run(inContext, grant, executor);
    }

    /** How many keys are in use. */
    public int size() {
        return mutexes.getSize();
    }

    @Override
    public String toString() {
        return "Async" + mutexes;
    }

    private static CompletableFuture<Permit> request(KeyEntry<Mutex> lease, @Nullable Duration timeout) {
        Mutex mutex = lease.value;
        return AsyncMutex.request(mutex, null, new LeasedPermit(new MutexPermit(mutex, null), lease), null, timeout);
    }
}
