package baton.interop;

import baton.PermitTimeoutException;
import baton.TooManyKeysException;
import baton.bridge.KeyBridge;
import baton.interop.internal.futures.LeasedCalls;
import baton.resilience.RateLimiter;
import baton.resilience.RateLimiters;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * {@link RateLimiters} for threads that may block: virtual threads above all. Made by {@link AsyncRateLimiters#blocking()}.
 *
 * <pre>{@code
 * String body = perCustomer.blocking().call(customerId, () -> client.send(request, ofString()).body());
 * }</pre>
 *
 * <p>It has no state of its own. Waiting and interrupts are as in {@link BlockingRateLimiter}. A call of a key for which there is no place throws
 * {@link TooManyKeysException}; its action is not run.
 */
public final class BlockingRateLimiters<K> {
    private final RateLimiters<K> limiters;
    private final LeasedCalls<K, RateLimiter> calls;

    BlockingRateLimiters(RateLimiters<K> limiters) {
        this.limiters = limiters;
        this.calls = new LeasedCalls<>(KeyBridge.of(limiters));
    }

    /** Waits for a permit of {@code key}, and takes it. */
    public void acquire(K key) throws InterruptedException {
        var unused = calls.call(key, limiter -> {
            new BlockingRateLimiter(limiter).acquire();
            return limiter;
        });
    }

    /** Takes a permit of {@code key} if that needs no waiting. It does not overtake waiting callers. */
    public boolean tryAcquire(K key) {
        return limiters.tryAcquire(Objects.requireNonNull(key, "key"), 1);
    }

    /**
     * Runs {@code action} once a permit of {@code key} was taken, which is not given back, and returns its value.
     *
     * @throws Exception as {@code action}
     */
    public <T extends @Nullable Object> T call(K key, Callable<T> action) throws Exception {
        Objects.requireNonNull(action, "action");
        acquire(key);
        return action.call();
    }

    /**
     * As {@link #call(Object, Callable)}, but waits {@code timeout} at most for the permit.
     *
     * @throws PermitTimeoutException if the permit cannot be there in time; {@code action} has not run
     */
    public <T extends @Nullable Object> T call(K key, Duration timeout, Callable<T> action) throws Exception {
        Objects.requireNonNull(timeout, "timeout");
        Objects.requireNonNull(action, "action");
        var unused = calls.call(key, limiter -> {
            new BlockingRateLimiter(limiter).acquire(timeout);
            return limiter;
        });
        return action.call();
    }

    @Override
    public String toString() {
        return "Blocking" + limiters;
    }
}
