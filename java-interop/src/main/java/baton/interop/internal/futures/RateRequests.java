package baton.interop.internal.futures;

import baton.bridge.RateLimiterBridge;
import baton.interop.AsyncRateLimiter;
import baton.interop.Permit;
import baton.resilience.RateLimiter;
import baton.resilience.RateLimiterClosedException;
import baton.waiting.WaitCore;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The requests behind the overloads of {@link AsyncRateLimiter}. */
public final class RateRequests {
    private final RateLimiter limiter;
    private final WaitCore core;

    public RateRequests(RateLimiter limiter) {
        this.limiter = limiter;
        this.core = RateLimiterBridge.of(limiter);
    }

    /** One permit for an action. */
    public CompletableFuture<Permit> permit(@Nullable Duration timeout) {
        return take(1, new UsedPermit(limiter), null, timeout);
    }

    /**
     * A future that completes with {@code grant} when so many permits were taken; null for a timeout means no limit.
     *
     * @param executor completes a future that had to wait; null for the thread that grants
     */
    public <T extends @Nullable Object> CompletableFuture<T> take(
            int permits, @Nullable T grant, @Nullable Executor executor, @Nullable Duration timeout) {
        try {
            if (RateLimiterBridge.tryTake(limiter, permits, Timeout.isOver(timeout)))
                return CompletableFuture.completedFuture(grant);
        } catch (RateLimiterClosedException e) {
            return CompletableFuture.failedFuture(e);
        }
        if (timeout == null) return WaiterFuture.enqueue(core, permits, null, grant, executor, null, null);
        Supplier<TimeoutException> late = () -> Late.acquire(permits, timeout, limiter);
        boolean isHopeless = !Timeout.isOver(timeout) && !RateLimiterBridge.canHaveWithin(limiter, permits, timeout);
        if (isHopeless) return CompletableFuture.failedFuture(late.get());
        return WaiterFuture.enqueue(core, permits, null, grant, executor, timeout, late);
    }
}
