package baton.interop;

import baton.PermitTimeoutException;
import baton.bridge.RateLimiterBridge;
import baton.distributed.DistributedRateLimiter;
import baton.distributed.StoreUnavailableException;
import baton.distributed.bridge.DistributedBridge;
import baton.interop.internal.futures.CallerContext;
import baton.interop.internal.futures.JobFuture;
import baton.interop.internal.futures.WithPermitFuture;
import baton.resilience.RateLimiterClosedException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A {@link DistributedRateLimiter} for Java. Its calls are those of an {@link AsyncRateLimiter}, but a {@code tryAcquire}
 * returns a future, because it may ask the store.
 *
 * <pre>{@code
 * AsyncDistributedRateLimiter api = cluster.rateLimiter("api", 100, Duration.ofSeconds(1), 20);
 * CompletableFuture<String> body = api.withPermit(() -> fetch("/prices"));
 * }</pre>
 *
 * <p><i>Cancellation.</i> Cancelling the future, completing it from outside, or letting {@code orTimeout} expire
 * withdraws the request, which takes nothing unless it was granted at that moment.
 *
 * <p><i>Failures</i> arrive in the future: {@link PermitTimeoutException} once the timeout has passed, {@link
 * StoreUnavailableException} if the store is away then, {@link RateLimiterClosedException} if the cluster is closed.
 */
@SuppressWarnings("exports") // of baton.distributed, which the callers require
public final class AsyncDistributedRateLimiter {
    private final DistributedRateLimiter limiter;

    private AsyncDistributedRateLimiter(DistributedRateLimiter limiter) {
        this.limiter = limiter;
    }

    /** The Java API of the given limiter; the two share all state. */
    public static AsyncDistributedRateLimiter of(DistributedRateLimiter limiter) {
        return new AsyncDistributedRateLimiter(Objects.requireNonNull(limiter, "limiter"));
    }

    /** The Kotlin limiter behind this. */
    public DistributedRateLimiter kotlin() {
        return limiter;
    }

    /** A view of the same limiter for threads that may block. */
    public BlockingDistributedRateLimiter blocking() {
        return new BlockingDistributedRateLimiter(this);
    }

    /** As {@link #acquire(int)}, for one permit. */
    public CompletableFuture<@Nullable Void> acquire() {
        return acquire(1);
    }

    /**
     * A future that completes when {@code permits} permits are there, and takes them.
     *
     * @throws IllegalArgumentException if {@code permits} is below 1, or above the burst
     */
    public CompletableFuture<@Nullable Void> acquire(int permits) {
        return request(permits, null);
    }

    /** As {@link #acquire(int, Duration)}, for one permit. */
    public CompletableFuture<@Nullable Void> acquire(Duration timeout) {
        return acquire(1, timeout);
    }

    /**
     * As {@link #acquire(int)}, but fails with {@link PermitTimeoutException} if the permits are not there in time. With
     * zero or less it looks into the store once. The exception's {@code retryIn()} is the time after which the permits
     * are there, as this member knows it.
     */
    public CompletableFuture<@Nullable Void> acquire(int permits, Duration timeout) {
        return request(permits, Objects.requireNonNull(timeout, "timeout"));
    }

    private CompletableFuture<@Nullable Void> request(int permits, @Nullable Duration timeout) {
        requirePermits(permits);
        return JobFuture.start(
                "acquire", limiter, false, done -> DistributedBridge.acquire(limiter, permits, timeout, done));
    }

    /** As {@link #tryAcquire(int)}, for one permit. */
    public CompletableFuture<Boolean> tryAcquire() {
        return tryAcquire(1);
    }

    /**
     * Takes {@code permits} permits if that needs no waiting for time to pass, after at most one look into the store.
     *
     * @throws IllegalArgumentException if {@code permits} is below 1, or above the burst
     */
    public CompletableFuture<Boolean> tryAcquire(int permits) {
        return tryAcquire(permits, Duration.ZERO);
    }

    /** As {@link #acquire(int, Duration)}, but false if the permits are not there in time; nothing is taken then. */
    public CompletableFuture<Boolean> tryAcquire(int permits, Duration timeout) {
        Objects.requireNonNull(timeout, "timeout");
        requirePermits(permits);
        return JobFuture.start(
                "tryAcquire", limiter, false, done -> DistributedBridge.tryAcquire(limiter, permits, timeout, done));
    }

    private void requirePermits(int permits) {
        if (permits < 1) throw new IllegalArgumentException("permits = " + permits + ", must be at least 1");
        long burst = limiter.getBurst();
        if (permits > burst) {
            throw new IllegalArgumentException(
                    "permits = " + permits + ", must be at most " + burst + ", the burst of " + limiter);
        }
    }

    /**
     * Runs {@code action} once a permit was taken, which is not given back. The returned future completes as the
     * action's stage does, or with what the action throws. Cancelling it while it waits withdraws the request; while
     * the action runs, its stage is cancelled if that is possible.
     */
    public <T extends @Nullable Object> CompletableFuture<T> withPermit(Supplier<? extends CompletionStage<T>> action) {
        return with(action, null);
    }

    /**
     * As {@link #withPermit(Supplier)}, but fails with {@link PermitTimeoutException}, and never runs {@code action}, if
     * the permit is not there in time. The action itself may take as long as it takes.
     */
    public <T extends @Nullable Object> CompletableFuture<T> withPermit(
            Supplier<? extends CompletionStage<T>> action, Duration timeout) {
        return with(action, Objects.requireNonNull(timeout, "timeout"));
    }

    private <T extends @Nullable Object> CompletableFuture<T> with(
            Supplier<? extends CompletionStage<T>> action, @Nullable Duration timeout) {
        Supplier<? extends CompletionStage<T>> inContext = CallerContext.supplier(action);
        CompletableFuture<AutoCloseable> grant = JobFuture.start(
                "acquire",
                limiter,
                false,
                done -> DistributedBridge.acquire(
                        limiter, 1, timeout, (none, e) -> done.accept(e == null ? () -> {} : null, e)));
        return WithPermitFuture.run(inContext, grant, null);
    }

    /** Changes the rate and the burst for all members, in the background. */
    public void update(int permits, Duration per, int burst) {
        limiter.update(RateLimiterBridge.rate(permits, Objects.requireNonNull(per, "per")), burst);
    }

    /** How many permits can be had at once. */
    public long burst() {
        return limiter.getBurst();
    }

    /** How many callers of this JVM wait. */
    public int waiting() {
        return limiter.getWaiting();
    }

    @Override
    public String toString() {
        return "Async" + limiter;
    }
}
