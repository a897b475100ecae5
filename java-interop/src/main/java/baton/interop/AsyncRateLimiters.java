package baton.interop;

import baton.PermitTimeoutException;
import baton.TooManyKeysException;
import baton.bridge.KeyBridge;
import baton.interop.internal.futures.CallerContext;
import baton.interop.internal.futures.LeasedCalls;
import baton.interop.internal.futures.RateRequests;
import baton.interop.internal.futures.WithPermitFuture;
import baton.resilience.RateLimiter;
import baton.resilience.RateLimiters;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * {@link RateLimiters} for Java: a token bucket for each key, such as a customer or an address.
 *
 * <pre>{@code
 * AsyncRateLimiters<String> perCustomer =
 *         AsyncRateLimiters.create(AsyncRateLimiter.builder(10, Duration.ofSeconds(1)).burst(20));
 * CompletableFuture<String> answer = perCustomer.withPermit(customerId, () -> send(customerId));
 * }</pre>
 *
 * <p>It has no state of its own. A bucket that is full is forgotten, since a new one is the same. There are never more
 * buckets than a bound: a new key takes the place of a full bucket or fails with {@link TooManyKeysException}, and never
 * gets a fresh bucket beyond it. <i>Order, cancellation, callbacks, memory.</i> As {@link AsyncRateLimiter}, for each key
 * by itself. Keys must not change their {@code equals} and {@code hashCode}.
 */
public final class AsyncRateLimiters<K> {
    private final RateLimiters<K> limiters;
    private final LeasedCalls<K, RateLimiter> calls;

    private AsyncRateLimiters(RateLimiters<K> limiters) {
        this.limiters = limiters;
        this.calls = new LeasedCalls<>(KeyBridge.of(limiters));
    }

    /** The Java API of the given limiters; the two share all state. */
    public static <K> AsyncRateLimiters<K> of(RateLimiters<K> limiters) {
        return new AsyncRateLimiters<>(Objects.requireNonNull(limiters, "limiters"));
    }

    /** As {@link #create(AsyncRateLimiter.Builder, int)}, for at most 100,000 keys. */
    public static <K> AsyncRateLimiters<K> create(AsyncRateLimiter.Builder each) {
        return create(each, KeyBridge.DEFAULT_MAX_KEYS);
    }

    /**
     * A bucket with the settings of {@code each} for each key; its name comes before the key in messages.
     *
     * @throws IllegalArgumentException if {@code maxKeys} is below 1, or {@code each} is leaky
     */
    public static <K> AsyncRateLimiters<K> create(AsyncRateLimiter.Builder each, int maxKeys) {
        return of(Objects.requireNonNull(each, "each").byKey(maxKeys));
    }

    /** The Kotlin object behind this. */
    public RateLimiters<K> kotlin() {
        return limiters;
    }

    /** A view of the same limiters for threads that may block. */
    public BlockingRateLimiters<K> blocking() {
        return new BlockingRateLimiters<>(limiters);
    }

    /** As {@link #acquire(Object, int)}, for one permit. */
    public CompletableFuture<@Nullable Void> acquire(K key) {
        return acquire(key, 1);
    }

    /**
     * A future that completes when so many permits of {@code key} are there, and takes them. Fails with
     * {@link TooManyKeysException} if the key is new and there is no place for it.
     *
     * @throws IllegalArgumentException if {@code permits} is below 1 or above the burst
     */
    public CompletableFuture<@Nullable Void> acquire(K key, int permits) {
        return calls.request(key, limiter -> AsyncRateLimiter.of(limiter).acquire(permits));
    }

    /**
     * As the other, but fails with {@link PermitTimeoutException} if the permits cannot be there in time; see
     * {@link AsyncRateLimiter#acquire(int, Duration)}.
     */
    public CompletableFuture<@Nullable Void> acquire(K key, int permits, Duration timeout) {
        Objects.requireNonNull(timeout, "timeout");
        return calls.request(key, limiter -> AsyncRateLimiter.of(limiter).acquire(permits, timeout));
    }

    /** As {@link #tryAcquire(Object, int)}, for one permit. */
    public boolean tryAcquire(K key) {
        return tryAcquire(key, 1);
    }

    /**
     * Takes so many permits of {@code key} if that needs no waiting. It does not overtake waiting requests.
     *
     * @throws IllegalArgumentException if {@code permits} is below 1 or above the burst
     * @throws TooManyKeysException if the key is new and there is no place for it
     */
    public boolean tryAcquire(K key, int permits) {
        return limiters.tryAcquire(Objects.requireNonNull(key, "key"), permits);
    }

    /**
     * Runs {@code action} once a permit of {@code key} was taken, see {@link AsyncRateLimiter#withPermit(Supplier)}. Fails
     * with {@link TooManyKeysException} if the key is new and there is no place for it.
     */
    public <T extends @Nullable Object> CompletableFuture<T> withPermit(
            K key, Supplier<? extends CompletionStage<T>> action) {
        return withPermit(key, action, null, null);
    }

    /** As {@link #withPermit(Object, Supplier)}, for an action that {@code executor} runs and that ends when it returns. */
    public <T extends @Nullable Object> CompletableFuture<T> withPermit(K key, Callable<T> action, Executor executor) {
        return withPermit(key, LeasedCalls.<T>ofCallable(action, executor), executor, null);
    }

    /**
     * As {@link #withPermit(Object, Supplier)}, but fails with {@link PermitTimeoutException}, and never runs
     * {@code action}, if the permit cannot be there in time.
     */
    public <T extends @Nullable Object> CompletableFuture<T> withPermit(
            K key, Supplier<? extends CompletionStage<T>> action, Duration timeout) {
        return withPermit(key, action, null, Objects.requireNonNull(timeout, "timeout"));
    }

    /** As the two others together. */
    public <T extends @Nullable Object> CompletableFuture<T> withPermit(
            K key, Callable<T> action, Executor executor, Duration timeout) {
        Objects.requireNonNull(timeout, "timeout");
        return withPermit(key, LeasedCalls.<T>ofCallable(action, executor), executor, timeout);
    }

    private <T extends @Nullable Object> CompletableFuture<T> withPermit(
            K key,
            Supplier<? extends CompletionStage<T>> action,
            @Nullable Executor executor,
            @Nullable Duration timeout) {
        Supplier<? extends CompletionStage<T>> inContext = CallerContext.supplier(action);
        CompletableFuture<Permit> grant = calls.request(key, limiter -> new RateRequests(limiter).permit(timeout));
        return WithPermitFuture.run(inContext, grant, executor);
    }

    /** How many buckets there are, those included that are full and not forgotten yet. */
    public int size() {
        return limiters.getSize();
    }

    @Override
    public String toString() {
        return "Async" + limiters;
    }
}
