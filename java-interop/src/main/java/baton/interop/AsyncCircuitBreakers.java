package baton.interop;

import baton.TooManyKeysException;
import baton.bridge.KeyBridge;
import baton.interop.internal.futures.LeasedCalls;
import baton.interop.internal.futures.ProtectFuture;
import baton.resilience.BreakerState;
import baton.resilience.CircuitBreaker;
import baton.resilience.CircuitBreakers;
import baton.resilience.CircuitOpenException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * {@link CircuitBreakers} for Java: a breaker for each key, such as a host.
 *
 * <pre>{@code
 * AsyncCircuitBreakers<String> perHost =
 *         AsyncCircuitBreakers.create(AsyncCircuitBreaker.builder().minimumCalls(5), Duration.ofMinutes(10));
 * CompletableFuture<String> page = perHost.protect(host, () -> fetch(url));
 * }</pre>
 *
 * <p>It has no state of its own. A closed breaker that has not been used for a time is forgotten; one in another state is
 * kept. There are never more breakers than a bound: a new key takes the place of an idle one or fails with
 * {@link TooManyKeysException}. <i>Counting, cancellation, callbacks.</i> As {@link AsyncCircuitBreaker}, for each key by
 * itself. Keys must not change their {@code equals} and {@code hashCode}.
 */
public final class AsyncCircuitBreakers<K> {
    private final CircuitBreakers<K> breakers;
    private final LeasedCalls<K, CircuitBreaker> calls;

    private AsyncCircuitBreakers(CircuitBreakers<K> breakers) {
        this.breakers = breakers;
        this.calls = new LeasedCalls<>(KeyBridge.of(breakers));
    }

    /** The Java API of the given breakers; the two share all state. */
    public static <K> AsyncCircuitBreakers<K> of(CircuitBreakers<K> breakers) {
        return new AsyncCircuitBreakers<>(Objects.requireNonNull(breakers, "breakers"));
    }

    /** As {@link #create(AsyncCircuitBreaker.Builder, Duration, int)}, for at most 100,000 keys. */
    public static <K> AsyncCircuitBreakers<K> create(AsyncCircuitBreaker.Builder each, Duration keepIdle) {
        return create(each, keepIdle, KeyBridge.DEFAULT_MAX_KEYS);
    }

    /**
     * A breaker with the settings of {@code each} for each key; its name comes before the key in messages.
     *
     * @param keepIdle how long an unused breaker is kept, above zero
     * @param maxKeys the most breakers, at least 1
     * @throws IllegalArgumentException if a number is out of bounds
     */
    public static <K> AsyncCircuitBreakers<K> create(AsyncCircuitBreaker.Builder each, Duration keepIdle, int maxKeys) {
        Objects.requireNonNull(each, "each");
        return of(each.byKey(Objects.requireNonNull(keepIdle, "keepIdle"), maxKeys));
    }

    /** The Kotlin object behind this. */
    public CircuitBreakers<K> kotlin() {
        return breakers;
    }

    /** A view of the same breakers for threads that may block. */
    public BlockingCircuitBreakers<K> blocking() {
        return new BlockingCircuitBreakers<>(breakers);
    }

    /**
     * Runs {@code action} if the breaker of {@code key} lets the call in, and counts the end of its stage. The future
     * fails with {@link CircuitOpenException} if not, and with {@link TooManyKeysException} if the key is new and there is
     * no place for it; then the action was not run.
     */
    public <T extends @Nullable Object> CompletableFuture<T> protect(
            K key, Supplier<? extends CompletionStage<T>> action) {
        Objects.requireNonNull(action, "action");
        return calls.request(key, breaker -> ProtectFuture.run(breaker, action));
    }

    /** The state of the breaker of {@code key}; {@link BreakerState#CLOSED} if there is none. It is no use. */
    public BreakerState state(K key) {
        return breakers.state(Objects.requireNonNull(key, "key"));
    }

    /** Refuses all calls of {@code key} until {@link #reset} or {@link #disable}. */
    public void trip(K key) {
        breakers.trip(Objects.requireNonNull(key, "key"));
    }

    /**
     * Refuses all calls of {@code key} for {@code time}; then probes are let in. See {@link AsyncCircuitBreaker#openFor}.
     *
     * @throws IllegalArgumentException if {@code time} is not above zero
     * @throws TooManyKeysException if the key is new and there is no place for it
     */
    public void openFor(K key, Duration time) {
        Objects.requireNonNull(key, "key");
        KeyBridge.openFor(breakers, key, Objects.requireNonNull(time, "time"));
    }

    /** Closes the breaker of {@code key}, if there is one. */
    public void reset(K key) {
        breakers.reset(Objects.requireNonNull(key, "key"));
    }

    /** Lets all calls of {@code key} through until {@link #reset} or {@link #trip}, and counts them. */
    public void disable(K key) {
        breakers.disable(Objects.requireNonNull(key, "key"));
    }

    /** How many breakers there are, those included that are idle and not forgotten yet. */
    public int size() {
        return breakers.getSize();
    }

    @Override
    public String toString() {
        return "Async" + breakers;
    }
}
