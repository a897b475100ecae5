package baton.interop;

import baton.BatonClock;
import baton.PermitTimeoutException;
import baton.bridge.RateLimiterBridge;
import baton.interop.internal.futures.CallerContext;
import baton.interop.internal.futures.RateRequests;
import baton.interop.internal.futures.Stages;
import baton.interop.internal.futures.WithPermitFuture;
import baton.resilience.Rate;
import baton.resilience.RateLimitedException;
import baton.resilience.RateLimiter;
import baton.resilience.RateLimiterClosedException;
import baton.resilience.RateLimiterMetrics;
import baton.resilience.RateLimiters;
import baton.resilience.RateReservation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A {@link RateLimiter} for Java: bounds how often something happens. Waiting operations return a
 * {@link CompletableFuture}.
 *
 * <pre>{@code
 * AsyncRateLimiter limiter = AsyncRateLimiter.builder(10, Duration.ofSeconds(1)).burst(20).build();
 * CompletableFuture<String> body = limiter.withPermit(
 *         () -> client.sendAsync(request, BodyHandlers.ofString()).thenApply(HttpResponse::body));
 * }</pre>
 *
 * <p>It has no state of its own: Java futures, threads and Kotlin coroutines that use the same limiter wait in one
 * queue. No method blocks; threads that may block use {@link #blocking()}. {@link RateLimiter} defines the
 * times and the order of the grants.
 *
 * <p><i>Order.</i> First come, first served. A request for several permits holds back those behind it.
 *
 * <p><i>Cancellation.</i> Cancelling the future of an acquire, completing it from outside, or letting {@code orTimeout}
 * expire withdraws the request: it takes no permits, and the requests behind it move up at once. After the grant the
 * permits are used, whether the future is read or not. Cancelling a stage derived from it withdraws nothing.
 *
 * <p><i>Callbacks.</i> A future that had to wait is completed on a thread of Baton's own, {@code baton-callbacks-…}, or
 * by the thread whose call lets the request move up. Its dependents run there, never under a lock of Baton's and never
 * on a timer thread. A dependent that blocks holds up the futures that are granted at the same moment; give an executor
 * to run it there instead. {@link AsyncSemaphore} says how the stack stays flat.
 *
 * <p><i>Failures</i> arrive in the future: {@link RateLimitedException} if as many requests wait as may wait, {@link
 * RateLimiterClosedException} if the limiter is closed, {@link PermitTimeoutException} for a timeout. Arguments that can
 * never succeed throw at the call.
 *
 * <p><i>Memory.</i> It publishes nothing from one caller to another.
 */
public final class AsyncRateLimiter implements AutoCloseable {
    private final RateLimiter limiter;
    private final RateRequests requests;

    private AsyncRateLimiter(RateLimiter limiter) {
        this.limiter = limiter;
        this.requests = new RateRequests(limiter);
    }

    /** The Java API of the given limiter; the two share all state. */
    public static AsyncRateLimiter of(RateLimiter limiter) {
        return new AsyncRateLimiter(Objects.requireNonNull(limiter, "limiter"));
    }

    /**
     * A new limiter that allows bursts: {@code permits} permits come in each {@code per}, and up to as many unused ones
     * are saved up. It begins full. {@link #builder} has further settings, such as a greater burst.
     *
     * @throws IllegalArgumentException if {@code permits} is below 1, or {@code per} is not above zero or above 292
     *     years
     */
    public static AsyncRateLimiter tokenBucket(int permits, Duration per) {
        return builder(permits, per).build();
    }

    /**
     * As {@link #tokenBucket}, but the permits are evenly spaced: one unused permit at most is saved. {@link #builder}
     * has further settings.
     */
    public static AsyncRateLimiter leakyBucket(int permits, Duration per) {
        return builder(permits, per).leaky().build();
    }

    /**
     * A builder of a limiter for which {@code permits} permits come in each {@code per}.
     *
     * @throws IllegalArgumentException if {@code permits} is below 1, or {@code per} is not above zero or above 292
     *     years
     */
    public static Builder builder(int permits, Duration per) {
        return new Builder(RateLimiterBridge.rate(permits, Objects.requireNonNull(per, "per")));
    }

    /** The Kotlin limiter behind this. */
    public RateLimiter kotlin() {
        return limiter;
    }

    /** A view of the same limiter for threads that may block. */
    public BlockingRateLimiter blocking() {
        return new BlockingRateLimiter(limiter);
    }

    /** As {@link #acquire(int)}, for one permit. */
    public CompletableFuture<@Nullable Void> acquire() {
        return acquire(1);
    }

    /**
     * A future that completes when {@code permits} permits are there, and takes them. From a leaky bucket it takes so
     * many turns in a row, and completes at the last one.
     *
     * @throws IllegalArgumentException if {@code permits} is below 1, or above the burst of a token bucket
     */
    public CompletableFuture<@Nullable Void> acquire(int permits) {
        return requests.take(permits, null, null, null);
    }

    /**
     * As {@link #acquire(int)}, but a future that had to wait is completed on {@code executor}; without it if the
     * executor rejects that.
     */
    public CompletableFuture<@Nullable Void> acquire(int permits, Executor executor) {
        return requests.take(permits, null, Objects.requireNonNull(executor, "executor"), null);
    }

    /** As {@link #acquire(int, Duration)}, for one permit. */
    public CompletableFuture<@Nullable Void> acquire(Duration timeout) {
        return acquire(1, timeout);
    }

    /**
     * As {@link #acquire(int)}, but fails with {@link PermitTimeoutException} if the permits are not granted in time. If
     * they cannot be there in time, given the rate and the requests before this one, it fails at once. With zero or less
     * it does not wait. The timeout is rounded up to whole milliseconds. The exception's {@code retryIn()} is the time
     * after which the permits are there, if no other request takes them; null for several permits of a leaky bucket.
     */
    public CompletableFuture<@Nullable Void> acquire(int permits, Duration timeout) {
        return requests.take(permits, null, null, Objects.requireNonNull(timeout, "timeout"));
    }

    /**
     * Takes one permit if that needs no waiting. It does not overtake waiting requests.
     *
     * @throws RateLimiterClosedException if the limiter is closed
     */
    public boolean tryAcquire() {
        return tryAcquire(1);
    }

    /**
     * Takes {@code permits} permits if that needs no waiting. It does not overtake waiting requests.
     *
     * @throws IllegalArgumentException if {@code permits} is below 1, or above the burst of a token bucket
     * @throws RateLimiterClosedException if the limiter is closed
     */
    public boolean tryAcquire(int permits) {
        return limiter.tryAcquire(permits);
    }

    /** As {@link #reserve(int)}, for one permit. */
    public RateReservation reserve() {
        return reserve(1);
    }

    /**
     * Takes a place in the queue, behind all waiting requests, and returns at once. The permits may be used after
     * {@link RateReservation#delay()}; {@link RateReservation#cancel()} gives them back before that.
     *
     * @throws IllegalArgumentException if {@code permits} is below 1, or above the burst of a token bucket
     * @throws RateLimiterClosedException if the limiter is closed; reservations that were made before stay
     */
    public RateReservation reserve(int permits) {
        return limiter.reserve(permits);
    }

    /** As {@link #tryReserve(int, Duration)}, for one permit. */
    public Optional<RateReservation> tryReserve(Duration maxWait) {
        return tryReserve(1, maxWait);
    }

    /**
     * As {@link #reserve(int)}, but only if the permits may be used within {@code maxWait}, as things stand; else nothing
     * is reserved. With zero or less, only if they may be used now.
     *
     * @throws IllegalArgumentException if {@code permits} is below 1, or above the burst of a token bucket
     * @throws RateLimiterClosedException if the limiter is closed
     */
    public Optional<RateReservation> tryReserve(int permits, Duration maxWait) {
        return Optional.ofNullable(
                RateLimiterBridge.tryReserve(limiter, permits, Objects.requireNonNull(maxWait, "maxWait")));
    }

    /**
     * Runs {@code action} once a permit was taken, which is not given back. The returned future completes as the
     * action's stage does, or with what the action throws.
     *
     * <p><i>Cancellation.</i> Cancelling the future, completing it from outside, or letting {@code orTimeout} expire
     * ends the work. While it waits: the request is withdrawn and the action never runs. While the action runs: its
     * stage is cancelled if that is possible.
     */
    public <T extends @Nullable Object> CompletableFuture<T> withPermit(Supplier<? extends CompletionStage<T>> action) {
        return WithPermitFuture.run(CallerContext.supplier(action), requests.permit(null), null);
    }

    /** As {@link #withPermit(Supplier)}, with the action run by {@code executor}. */
    public <T extends @Nullable Object, S extends CompletionStage<T>> CompletableFuture<T> withPermit(
            Supplier<S> action, Executor executor) {
        Objects.requireNonNull(executor, "executor");
        return WithPermitFuture.run(CallerContext.supplier(action), requests.permit(null), executor);
    }

    /**
     * As {@link #withPermit(Supplier, Executor)}, for an action that ends when it returns. Its value, or the exception
     * that it throws, is that of the future. Cancelling the future does not end an action that runs.
     */
    public <T extends @Nullable Object> CompletableFuture<T> withPermit(Callable<T> action, Executor executor) {
        Objects.requireNonNull(executor, "executor");
        return WithPermitFuture.run(
                CallerContext.supplier(Stages.<T>ofCallable(action)), requests.permit(null), executor);
    }

    /**
     * As {@link #withPermit(Supplier)}, but fails with {@link PermitTimeoutException}, and never runs {@code action}, if
     * the permit is not granted in time; at once if it cannot be. The action itself may take as long as it takes.
     */
    public <T extends @Nullable Object> CompletableFuture<T> withPermit(
            Supplier<? extends CompletionStage<T>> action, Duration timeout) {
        Objects.requireNonNull(timeout, "timeout");
        return WithPermitFuture.run(CallerContext.supplier(action), requests.permit(timeout), null);
    }

    /** As {@link #withPermit(Callable, Executor)}, within {@code timeout}; see {@link #withPermit(Supplier, Duration)}. */
    public <T extends @Nullable Object> CompletableFuture<T> withPermit(
            Callable<T> action, Executor executor, Duration timeout) {
        Objects.requireNonNull(executor, "executor");
        Objects.requireNonNull(timeout, "timeout");
        return WithPermitFuture.run(
                CallerContext.supplier(Stages.<T>ofCallable(action)), requests.permit(timeout), executor);
    }

    /** Changes the rate from now on, and the burst to {@code permits}; see {@link #update(int, Duration, int)}. */
    public void update(int permits, Duration per) {
        update(permits, per, permits);
    }

    /**
     * Changes the rate and the burst from now on; of several rates the first, and the others stay. The permits that are
     * there stay, up to the new burst; a leaky bucket ignores {@code burst}. Waiting requests for more than the new burst
     * fail with {@link IllegalArgumentException}.
     *
     * @throws IllegalArgumentException if {@code permits} or {@code burst} is below 1, or {@code per} is not above zero
     *     or above 292 years
     * @throws RateLimiterClosedException if the limiter is closed
     */
    public void update(int permits, Duration per, int burst) {
        limiter.update(RateLimiterBridge.rate(permits, Objects.requireNonNull(per, "per")), burst);
    }

    /** How many permits are there, also while the first request needs more than that. Never negative. */
    public long availablePermits() {
        return limiter.getAvailablePermits();
    }

    /** How many permits were granted, how many requests were refused, and how long callers have waited. */
    public RateLimiterMetrics metrics() {
        return limiter.getMetrics();
    }

    /** The number of waiting requests, of Java and Kotlin callers. Reservations do not count. */
    public int waiting() {
        return limiter.getWaiting();
    }

    /** Fails waiting and later requests with {@link RateLimiterClosedException}. */
    @Override
    public void close() {
        limiter.close(null);
    }

    /** As {@link #close()}, with a cause for the exceptions. */
    public void close(Throwable cause) {
        limiter.close(Objects.requireNonNull(cause, "cause"));
    }

    @Override
    public String toString() {
        return "Async" + limiter;
    }

    /** Builds an {@link AsyncRateLimiter}: a token bucket, unless it is {@link #leaky}. */
    public static final class Builder {
        private final Rate rate;
        private final List<Rate> others = new ArrayList<>();
        /** 0 if it was not set. */
        private int burst;

        private boolean isLeaky;
        private int maxWaiting = Integer.MAX_VALUE;
        private @Nullable BatonClock clock;
        private @Nullable String name;

        private Builder(Rate rate) {
            this.rate = rate;
        }

        /**
         * Adds a rate that bounds the same permits, such as a thousand an hour: a request gets its permits of all rates
         * in one step, or of none. Up to {@code permits} unused ones are saved up for it.
         *
         * @throws IllegalArgumentException if {@code permits} is below 1, or {@code per} is not above zero or above 292
         *     years
         */
        public Builder and(int permits, Duration per) {
            others.add(RateLimiterBridge.rate(permits, Objects.requireNonNull(per, "per")));
            return this;
        }

        /**
         * Up to so many unused permits are saved up, of several rates for the first; by default as many as come in each
         * {@code per}. A leaky bucket saves one at most.
         *
         * @throws IllegalArgumentException if {@code permits} is below 1
         */
        public Builder burst(int permits) {
            if (permits < 1) throw new IllegalArgumentException("burst = " + permits + ", must be at least 1");
            burst = permits;
            return this;
        }

        /** Spaces the permits evenly; one unused permit at most is saved. */
        public Builder leaky() {
            isLeaky = true;
            return this;
        }

        /**
         * How many requests may wait; further ones fail with {@link RateLimitedException}. By default there is no
         * bound.
         *
         * @throws IllegalArgumentException if {@code requests} is negative
         */
        public Builder maxWaiting(int requests) {
            if (requests < 0) throw new IllegalArgumentException("maxWaiting = " + requests + ", must be at least 0");
            maxWaiting = requests;
            return this;
        }

        /** The clock by which permits come; by default that of the system. Threads wait for no other. */
        public Builder clock(BatonClock clock) {
            this.clock = Objects.requireNonNull(clock, "clock");
            return this;
        }

        /** The name shown by messages; by default null, which is none. */
        public Builder name(@Nullable String name) {
            this.name = name;
            return this;
        }

        /**
         * A new limiter with these settings, which begins full.
         *
         * @throws IllegalStateException if it is {@link #leaky} and has a {@link #burst} or several rates
         */
        public AsyncRateLimiter build() {
            if (isLeaky && burst > 0)
                throw new IllegalStateException("burst = " + burst + ", must not be set for a leaky bucket");
            if (isLeaky && !others.isEmpty())
                throw new IllegalStateException("rates = " + (1 + others.size()) + ", must be 1 for a leaky bucket");
            return AsyncRateLimiter.of(
                    isLeaky
                            ? RateLimiter.Companion.leakyBucket(rate, maxWaiting, clock, name)
                            : RateLimiter.Companion.of(rate, others(), burst(), maxWaiting, clock, name));
        }

        <K> RateLimiters<K> byKey(int maxKeys) {
            if (isLeaky) throw new IllegalArgumentException("a leaky bucket, must be a token bucket for each key");
            return new RateLimiters<>(rate, others(), burst(), maxKeys, maxWaiting, clock, name);
        }

        private Rate[] others() {
            return others.toArray(new Rate[0]);
        }

        private long burst() {
            return burst == 0 ? rate.getPermits() : burst;
        }
    }
}
