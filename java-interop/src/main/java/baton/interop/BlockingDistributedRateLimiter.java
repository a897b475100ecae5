package baton.interop;

import baton.PermitTimeoutException;
import baton.interop.internal.futures.JobFuture;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * A {@link baton.distributed.DistributedRateLimiter} for threads that may block. Made by {@link
 * AsyncDistributedRateLimiter#blocking()}. An interrupt ends the wait, and takes nothing; if the permits were granted just
 * before, the call returns, and the thread stays interrupted.
 */
public final class BlockingDistributedRateLimiter {
    private final AsyncDistributedRateLimiter limiter;

    BlockingDistributedRateLimiter(AsyncDistributedRateLimiter limiter) {
        this.limiter = limiter;
    }

    /** Takes one permit, and waits for it if necessary. */
    public void acquire() throws InterruptedException {
        acquire(1);
    }

    /**
     * Takes {@code permits} permits, and waits for them if necessary.
     *
     * @throws IllegalArgumentException if {@code permits} is below 1 or above the burst
     */
    public void acquire(int permits) throws InterruptedException {
        JobFuture.<@Nullable Void, RuntimeException>await(() -> limiter.acquire(permits));
    }

    /** As {@link #acquire(int, Duration)}, for one permit. */
    public void acquire(Duration timeout) throws InterruptedException, PermitTimeoutException {
        acquire(1, timeout);
    }

    /**
     * As {@link #acquire(int)}, but waits {@code timeout} at most. With zero or less it looks into the store once.
     *
     * @throws PermitTimeoutException if the permits were not there in time; nothing is taken
     */
    public void acquire(int permits, Duration timeout) throws InterruptedException, PermitTimeoutException {
        Objects.requireNonNull(timeout, "timeout");
        JobFuture.<@Nullable Void, PermitTimeoutException>await(() -> limiter.acquire(permits, timeout));
    }

    /** Takes one permit if that needs no waiting for time to pass, after at most one look into the store. */
    public boolean tryAcquire() throws InterruptedException {
        return tryAcquire(1);
    }

    /** As {@link #tryAcquire()}, for {@code permits} permits. */
    public boolean tryAcquire(int permits) throws InterruptedException {
        return tryAcquire(permits, Duration.ZERO);
    }

    /** As {@link #acquire(int, Duration)}, but false if the permits were not there in time. */
    public boolean tryAcquire(int permits, Duration timeout) throws InterruptedException {
        return JobFuture.<Boolean, RuntimeException>await(() -> limiter.tryAcquire(permits, timeout));
    }

    /**
     * Runs {@code action} once a permit was taken, which is not given back.
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
     * @throws PermitTimeoutException if the permit was not there in time; {@code action} has not run
     */
    public <T extends @Nullable Object> T call(Duration timeout, Callable<T> action) throws Exception {
        Objects.requireNonNull(action, "action");
        acquire(timeout);
        return action.call();
    }

    @Override
    public String toString() {
        return "Blocking" + limiter.kotlin();
    }
}
