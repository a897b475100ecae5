package baton.interop;

import baton.TooManyKeysException;
import baton.bridge.KeyBridge;
import baton.interop.internal.futures.LeasedCalls;
import baton.resilience.CircuitBreaker;
import baton.resilience.CircuitBreakers;
import baton.resilience.CircuitOpenException;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * {@link CircuitBreakers} for threads that may block: virtual threads above all. Made by {@link AsyncCircuitBreakers#blocking()}.
 *
 * <pre>{@code
 * String body = perHost.blocking().call(host, () -> client.send(request, ofString()).body());
 * }</pre>
 *
 * <p>It has no state of its own. Failures and interrupts are as in {@link BlockingCircuitBreaker}. A call of a key for which there is no place throws
 * {@link TooManyKeysException}; its action is not run.
 */
public final class BlockingCircuitBreakers<K> {
    private final CircuitBreakers<K> breakers;
    private final LeasedCalls<K, CircuitBreaker> calls;

    BlockingCircuitBreakers(CircuitBreakers<K> breakers) {
        this.breakers = breakers;
        this.calls = new LeasedCalls<>(KeyBridge.of(breakers));
    }

    /**
     * Runs {@code action} if the breaker of {@code key} lets the call in, counts its result, and returns its value.
     *
     * @throws CircuitOpenException if the call was refused; the action was not run then
     */
    public <T extends @Nullable Object> T call(K key, Callable<T> action) throws Exception {
        Objects.requireNonNull(action, "action");
        return calls.call(key, breaker -> new BlockingCircuitBreaker(breaker).call(action));
    }

    @Override
    public String toString() {
        return "Blocking" + breakers;
    }
}
