package baton.interop;

import baton.PermitTimeoutException;
import baton.bridge.RateLimiterBridge;
import baton.interop.internal.futures.Late;
import baton.interop.internal.futures.Timeout;
import baton.resilience.RateLimitedException;
import baton.resilience.RateLimiter;
import baton.resilience.RateLimiterClosedException;
import baton.waiting.ThreadWaiter;
import baton.waiting.WaitCore;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * A {@link RateLimiter} for threads that may block: virtual threads above all. Made by {@link
 * AsyncRateLimiter#blocking()}.
 *
 * <pre>{@code
 * BlockingRateLimiter limiter = AsyncRateLimiter.tokenBucket(10, Duration.ofSeconds(1)).blocking();
 * String body = limiter.call(() -> client.send(request, BodyHandlers.ofString()).body());
 * }</pre>
 *
 * <p>It has no state of its own: threads, Java futures and Kotlin coroutines that use the same limiter wait in one
 * queue, first come, first served. A waiting thread parks, so a virtual thread leaves its carrier.
 *
 * <p><i>Interrupts.</i> An interrupt ends the wait: the request is withdrawn, and nothing was taken when {@link
 * InterruptedException} is thrown. If the permits were granted just before, the call returns, and the thread stays
 * interrupted. As in {@code java.util.concurrent}, a thread that is interrupted when it calls does not acquire.
 *
 * <p><i>Failures.</i> {@link RateLimitedException} if as many callers wait as may wait, {@link
 * RateLimiterClosedException} if the limiter is closed, {@link PermitTimeoutException} for a timeout; nothing was taken then.
 *
 * <p><i>Memory.</i> It publishes nothing from one caller to another.
 */
public final class BlockingRateLimiter {
    private final RateLimiter limiter;
    private final WaitCore core;

    BlockingRateLimiter(RateLimiter limiter) {
        this.limiter = limiter;
        this.core = RateLimiterBridge.of(limiter);
    }

    /** As {@link #acquire(int)}, for one permit. */
    public void acquire() throws InterruptedException {
        acquire(1);
    }

    /**
     * Takes {@code permits} permits, and waits for them if necessary. From a leaky bucket it takes so many turns in a
     * row, and returns at the last one.
     *
     * @throws IllegalArgumentException if {@code permits} is below 1, or above the burst of a token bucket
     */
    public void acquire(int permits) throws InterruptedException {
        ThreadWaiter.throwIfInterrupted();
        if (!RateLimiterBridge.tryTake(limiter, permits, false)) waiter(permits).await();
    }

    /** As {@link #acquire(int, Duration)}, for one permit. */
    public void acquire(Duration timeout) throws InterruptedException, PermitTimeoutException {
        acquire(1, timeout);
    }

    /**
     * As {@link #acquire(int)}, but waits {@code timeout} at most. If the permits cannot be there in time, given the
     * rate and the callers before this one, it throws at once. With zero or less it does not wait.
     *
     * @throws PermitTimeoutException if the permits were not granted in time; nothing was taken. Its {@code retryIn()} is
     *     the time after which they are there, if no other request takes them; null for several of a leaky bucket
     */
    public void acquire(int permits, Duration timeout) throws InterruptedException, PermitTimeoutException {
        long nanos = Timeout.nanos(timeout);
        ThreadWaiter.throwIfInterrupted();
        if (RateLimiterBridge.tryTake(limiter, permits, nanos == 0)) return;
        boolean isInTime = nanos > 0 && RateLimiterBridge.canHaveWithin(limiter, permits, timeout);
        if (!isInTime || !waiter(permits).await(nanos)) throw Late.acquire(permits, timeout, limiter);
    }

    /**
     * Takes one permit if that needs no waiting. It does not overtake waiting callers.
     *
     * @throws RateLimiterClosedException if the limiter is closed
     */
    public boolean tryAcquire() {
        return tryAcquire(1);
    }

    /**
     * Takes {@code permits} permits if that needs no waiting. It does not overtake waiting callers.
     *
     * @throws IllegalArgumentException if {@code permits} is below 1, or above the burst of a token bucket
     * @throws RateLimiterClosedException if the limiter is closed
     */
    public boolean tryAcquire(int permits) {
        return limiter.tryAcquire(permits);
    }

    /**
     * Runs {@code action} once a permit was taken, which is not given back, and returns its value.
     *
     * @throws Exception as {@code action}
     */
    public <T extends @Nullable Object> T call(Callable<T> action) throws Exception {
        Objects.requireNonNull(action, "action");
        acquire();
        return action.call();
    }

    /**
     * As {@link #call(Callable)}, but waits {@code timeout} at most for the permit.
     *
     * @throws PermitTimeoutException if the permit was not granted in time; {@code action} has not run
     */
    public <T extends @Nullable Object> T call(Duration timeout, Callable<T> action) throws Exception {
        Objects.requireNonNull(action, "action");
        acquire(timeout);
        return action.call();
    }

    @Override
    public String toString() {
        return "Blocking" + limiter;
    }

    private ThreadWaiter waiter(int permits) {
        return new ThreadWaiter(core, permits, null, limiter);
    }
}
