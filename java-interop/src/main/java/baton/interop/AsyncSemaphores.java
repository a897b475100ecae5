package baton.interop;

import baton.PermitTimeoutException;
import baton.TooManyKeysException;
import baton.bridge.KeyBridge;
import baton.interop.internal.futures.LeasedCalls;
import baton.interop.internal.futures.LeasedPermit;
import baton.interop.internal.futures.SemaphorePermit;
import baton.sync.Semaphore;
import baton.sync.Semaphores;
import baton.sync.WaitOrder;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * {@link Semaphores} for Java: as many permits for each key by itself.
 *
 * <pre>{@code
 * AsyncSemaphores<String> perHost = AsyncSemaphores.create(4);
 * CompletableFuture<String> page = perHost.withPermit(host, () -> fetch(url));
 * }</pre>
 *
 * <p>It has no state of its own. A key that is not in use takes no memory. <i>Order, cancellation, callbacks, memory.</i>
 * As {@link AsyncSemaphore}, for each key by itself. Keys must not change their {@code equals} and {@code hashCode}.
 */
public final class AsyncSemaphores<K> {
    private final Semaphores<K> semaphores;
    private final LeasedCalls<K, Semaphore> calls;

    private AsyncSemaphores(Semaphores<K> semaphores) {
        this.semaphores = semaphores;
        this.calls = new LeasedCalls<>(KeyBridge.of(semaphores));
    }

    /** The Java API of the given semaphores; the two share all state. */
    public static <K> AsyncSemaphores<K> of(Semaphores<K> semaphores) {
        return new AsyncSemaphores<>(Objects.requireNonNull(semaphores, "semaphores"));
    }

    /**
     * So many permits for each key, at least 1, granted in the order of arrival, for at most 100,000 keys in use.
     *
     * @throws IllegalArgumentException if {@code permits} is below 1
     */
    public static <K> AsyncSemaphores<K> create(int permits) {
        return create(permits, WaitOrder.FIFO, KeyBridge.DEFAULT_MAX_KEYS, null);
    }

    /**
     * As {@link #create(int)}, with all settings of {@link Semaphores}.
     *
     * @throws IllegalArgumentException if {@code permits} or {@code maxKeys} is below 1
     */
    public static <K> AsyncSemaphores<K> create(int permits, WaitOrder order, int maxKeys, @Nullable String name) {
        return of(new Semaphores<>(permits, Objects.requireNonNull(order, "order"), maxKeys, name));
    }

    /** The Kotlin object behind this. */
    public Semaphores<K> kotlin() {
        return semaphores;
    }

    /** A view of the same semaphores for threads that may block. */
    public BlockingSemaphores<K> blocking() {
        return new BlockingSemaphores<>(semaphores);
    }

    /**
     * Runs {@code action} while holding a permit of {@code key}, see {@link AsyncSemaphore#withPermit(Supplier)}. Fails with
     * {@link TooManyKeysException} if the key is not in use and there is no place for it.
     */
    public <T extends @Nullable Object> CompletableFuture<T> withPermit(
            K key, Supplier<? extends CompletionStage<T>> action) {
        return calls.holding(key, action, null, null, one());
    }

    /** As {@link #withPermit(Object, Supplier)}, for an action that {@code executor} runs and that ends when it returns. */
    public <T extends @Nullable Object> CompletableFuture<T> withPermit(K key, Callable<T> action, Executor executor) {
        return calls.holding(key, LeasedCalls.<T>ofCallable(action, executor), executor, null, one());
    }

    /**
     * As {@link #withPermit(Object, Supplier)}, but fails with {@link PermitTimeoutException}, and never runs
     * {@code action}, if it would have to wait longer than {@code timeout}.
     */
    public <T extends @Nullable Object> CompletableFuture<T> withPermit(
            K key, Supplier<? extends CompletionStage<T>> action, Duration timeout) {
        Objects.requireNonNull(timeout, "timeout");
        return calls.holding(key, action, null, timeout, one());
    }

    /** As the two others together. */
    public <T extends @Nullable Object> CompletableFuture<T> withPermit(
            K key, Callable<T> action, Executor executor, Duration timeout) {
        Objects.requireNonNull(timeout, "timeout");
        return calls.holding(key, LeasedCalls.<T>ofCallable(action, executor), executor, timeout, one());
    }

    /**
     * As {@link #withPermit(Object, Supplier)}, with so many permits, granted all at once.
     *
     * @throws IllegalArgumentException if {@code permits} is below 1 or above those of each key
     */
    public <T extends @Nullable Object> CompletableFuture<T> withPermits(
            K key, int permits, Supplier<? extends CompletionStage<T>> action) {
        return calls.holding(key, action, null, null, some(permits));
    }

    /** How many keys are in use. */
    public int size() {
        return semaphores.getSize();
    }

    @Override
    public String toString() {
        return "Async" + semaphores;
    }

    private static LeasedCalls.Request<Semaphore> one() {
        return some(1);
    }

    private static LeasedCalls.Request<Semaphore> some(int permits) {
        return (lease, timeout) -> AsyncSemaphore.request(
                lease.value,
                permits,
                new LeasedPermit(new SemaphorePermit(lease.value, permits), lease),
                null,
                null,
                timeout);
    }
}
