package baton.interop;

import baton.BatonClock;
import baton.bridge.BreakerBridge;
import baton.bridge.BreakerSettings;
import baton.bridge.Durations;
import baton.bridge.KeyBridge;
import baton.interop.internal.futures.Countdown;
import baton.interop.internal.futures.ProtectFuture;
import baton.monitoring.CallEvent;
import baton.resilience.BreakerState;
import baton.resilience.CircuitBreaker;
import baton.resilience.CircuitBreakerConfig;
import baton.resilience.CircuitBreakerMetrics;
import baton.resilience.CircuitBreakers;
import baton.resilience.CircuitOpenException;
import baton.resilience.Jitter;
import baton.resilience.SlidingWindow;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A {@link CircuitBreaker} for Java: stops calling a service that fails, and probes it after a time.
 *
 * <pre>{@code
 * AsyncCircuitBreaker breaker = AsyncCircuitBreaker.builder()
 *         .window(100)
 *         .failureRate(0.5)
 *         .openFor(Duration.ofSeconds(5), Duration.ofMinutes(2))
 *         .ignoreIf(ValidationException.class::isInstance)
 *         .failureResult(r -> r instanceof HttpResponse<?> h && h.statusCode() >= 500)
 *         .name("api")
 *         .build();
 * CompletableFuture<String> page = breaker.protect(() -> fetch(url));
 * }</pre>
 *
 * <p>It has no state of its own: Java futures, Kotlin coroutines and threads that use the same breaker count together.
 * No method blocks; threads that may block use {@link #blocking()}.
 *
 * <p><i>Counting.</i> A call counts at the end of the action's stage. A value is a success, unless {@code failureResult}
 * accepts it, and slow if it took longer than the limit. A failure counts as such if {@code isFailure} accepts it,
 * otherwise as a success of the callee; a {@code CompletionException} is unwrapped before. An exception that the action
 * throws counts as the failure of its stage. A stage that is cancelled, or fails with a {@link baton.Refusal}, an
 * {@link Error} or what {@code ignoreIf} accepts, counts as nothing.
 *
 * <p><i>Cancellation.</i> Cancelling the future, completing it from outside, or letting {@code orTimeout} expire counts
 * as nothing and cancels the stage; a probe gives its place back at once. To have a time limit count as a failure, put
 * it on the stage: {@code breaker.protect(() -> fetch(url).orTimeout(1, SECONDS))}.
 *
 * <p><i>With others.</i> {@code retry.call(() -> breaker.protect(() -> limiter.withPermit(() -> fetch(url))))}: each
 * attempt counts, and a refused call takes no permit. The refusals of limiters and semaphores inside count as nothing,
 * and are not repeated by default. {@link AsyncRetry} waits until the breaker may let a call in, if its {@code retryIf}
 * accepts {@link CircuitOpenException}.
 *
 * <p><i>Order.</i> All futures of {@link #awaitClosed()} are granted in one step, and completed one after the other in
 * the order of their arrival.
 *
 * <p><i>Callbacks.</i> The action runs on the calling thread. The future of {@code protect} is completed by the thread
 * that completes the stage; that of {@code awaitClosed} by the thread whose result closes the breaker, or which resets
 * it.
 *
 * <p><i>Failures</i> arrive in the future: {@link CircuitOpenException} of a call that was refused,
 * {@link TimeoutException} once a timeout has passed, and otherwise the failure of the stage itself.
 *
 * <p><i>Memory.</i> Actions before the result that closes the breaker happen before the actions that follow an
 * {@code awaitClosed} which waited for it.
 */
public final class AsyncCircuitBreaker {
    private final CircuitBreaker breaker;
    private final Countdown closing;

    private AsyncCircuitBreaker(CircuitBreaker breaker) {
        this.breaker = breaker;
        this.closing = new Countdown(BreakerBridge.of(breaker), () -> BreakerBridge.isPassing(breaker) ? 0 : 1);
    }

    /** The Java API of the given breaker; the two share all state. */
    public static AsyncCircuitBreaker of(CircuitBreaker breaker) {
        return new AsyncCircuitBreaker(Objects.requireNonNull(breaker, "breaker"));
    }

    /**
     * A new breaker with the defaults of {@link CircuitBreakerConfig}.
     *
     * @param name shown by messages and {@code toString}, or null
     */
    public static AsyncCircuitBreaker create(@Nullable String name) {
        return builder().name(name).build();
    }

    /** A builder that has the defaults of {@link CircuitBreakerConfig}. */
    public static Builder builder() {
        return new Builder();
    }

    /** The Kotlin breaker behind this. */
    public CircuitBreaker kotlin() {
        return breaker;
    }

    /** A view of the same breaker for threads that may block. */
    public BlockingCircuitBreaker blocking() {
        return new BlockingCircuitBreaker(breaker);
    }

    /**
     * Runs {@code action} if the breaker lets the call in, and counts the end of its stage. The future completes as the
     * stage does, or fails with {@link CircuitOpenException}; then the action was not run.
     */
    public <T extends @Nullable Object> CompletableFuture<T> protect(Supplier<? extends CompletionStage<T>> action) {
        Objects.requireNonNull(action, "action");
        return ProtectFuture.run(breaker, action);
    }

    /** The state. It is {@link BreakerState#OPEN} until a call comes, also when its time is over. */
    public BreakerState state() {
        return breaker.getState();
    }

    /** The results in the window, and the number of refused calls. */
    public CircuitBreakerMetrics metrics() {
        return breaker.getMetrics();
    }

    /**
     * The time until a call may be let in; zero if one would be let in now, and the longest that Java has if the
     * breaker was tripped.
     */
    public Duration retryIn() {
        return BreakerBridge.retryIn(breaker);
    }

    /** The number of requests that wait for the breaker to close, of Java and Kotlin callers. */
    public int waiting() {
        return breaker.getWaiting();
    }

    /**
     * A future that completes when the breaker lets calls through: {@link BreakerState#CLOSED} or
     * {@link BreakerState#DISABLED}. It is no probe: some other caller must call, or reset the breaker. Cancelling the
     * future withdraws the request.
     */
    public CompletableFuture<@Nullable Void> awaitClosed() {
        return closing.await(null);
    }

    /**
     * As {@link #awaitClosed()}, but a future that had to wait is completed on {@code executor}; by the thread that
     * closes the breaker if the executor rejects that.
     */
    public CompletableFuture<@Nullable Void> awaitClosed(Executor executor) {
        return closing.await(Objects.requireNonNull(executor, "executor"));
    }

    /**
     * As {@link #awaitClosed()}, but fails with {@link TimeoutException} if the breaker does not let calls through in
     * time. With zero or less it succeeds or fails at once. The timeout is rounded up to whole milliseconds.
     */
    public CompletableFuture<@Nullable Void> awaitClosed(Duration timeout) {
        return closing.await(timeout, () -> "not closed within " + Durations.textOf(timeout) + ": " + breaker);
    }

    /** Refuses all calls until {@link #reset} or {@link #disable}. */
    public void trip() {
        breaker.trip();
    }

    /**
     * Refuses all calls for {@code time}, whatever the state; then probes are let in. It has no jitter and no bound.
     *
     * @throws IllegalArgumentException if {@code time} is not above zero
     */
    public void openFor(Duration time) {
        BreakerBridge.openFor(breaker, Objects.requireNonNull(time, "time"));
    }

    /** Closes the breaker and empties its window. The results of calls that have begun before do not count. */
    public void reset() {
        breaker.reset();
    }

    /** Lets all calls through until {@link #reset} or {@link #trip}, and counts them. */
    public void disable() {
        breaker.disable();
    }

    /**
     * Calls {@code listener} with the former and the new state after each change, until the result is closed: without a
     * lock, one change after the other in their order, on a thread that makes changes. Its exceptions go to that
     * thread's handler of uncaught exceptions.
     */
    public AutoCloseable onChange(BiConsumer<? super BreakerState, ? super BreakerState> listener) {
        return BreakerBridge.onChange(breaker, Objects.requireNonNull(listener, "listener"));
    }

    /**
     * Calls {@code listener} at the end of each call that begins from now on, until the result is closed: on the thread
     * that ends the call, before its future completes. Its exceptions go to that thread's handler of uncaught
     * exceptions.
     */
    public AutoCloseable onCall(Consumer<? super CallEvent> listener) {
        return BreakerBridge.onCall(breaker, Objects.requireNonNull(listener, "listener"));
    }

    @Override
    public String toString() {
        return "Async" + breaker;
    }

    /**
     * Builds an {@link AsyncCircuitBreaker}. Its defaults are those of {@link CircuitBreakerConfig}. Its methods refuse
     * bad arguments.
     */
    public static final class Builder {
        private BreakerSettings settings = new BreakerSettings();
        private @Nullable String name;

        private Builder() {}

        private Builder with(Consumer<BreakerSettings> change) {
            settings = settings.with(change);
            return this;
        }

        /** The latest {@code calls} calls decide; at least 1. By default 100. */
        public Builder window(int calls) {
            return with(it -> it.window = new SlidingWindow.Calls(calls));
        }

        /** The calls that have ended within the latest {@code length} decide. It is kept in tenths. */
        public Builder window(Duration length) {
            return with(it -> it.window(Objects.requireNonNull(length, "length")));
        }

        /**
         * With fewer calls than this in the window the breaker does not open; at least 1, and at most the calls of the
         * window. By default 10.
         */
        public Builder minimumCalls(int calls) {
            return with(it -> it.minimumCalls = calls);
        }

        /** With this share of failures, or more, the breaker opens; above 0.0 and at most 1.0. By default 0.5. */
        public Builder failureRate(double rate) {
            return with(it -> it.failureRate = rate);
        }

        /**
         * A call that succeeds and takes longer than {@code time} is slow; with the share {@code rate} of slow calls,
         * or more, the breaker opens. By default no call is slow.
         */
        public Builder slow(Duration time, double rate) {
            return with(it -> {
                it.slowCall = Objects.requireNonNull(time, "time");
                it.slowRate = rate;
            });
        }

        /** How long the breaker is open, each time; more than zero. By default 30 seconds. */
        public Builder openFor(Duration time) {
            return with(it -> it.openFor(Objects.requireNonNull(time, "time")));
        }

        /**
         * The breaker is open for {@code first}, then for twice the last time, at most {@code max}, until it closes.
         */
        public Builder openFor(Duration first, Duration max) {
            Objects.requireNonNull(first, "first");
            Objects.requireNonNull(max, "max");
            return with(it -> it.openFor(first, max));
        }

        /** The randomness of that time, see {@link Jitter.Factor}; by default 0.2. Zero is no jitter. */
        public Builder jitter(double factor) {
            return with(it -> it.jitter = new Jitter.Factor(factor));
        }

        /**
         * How many calls are let in at a time after that, at least 1; so many successes close the breaker, unless
         * {@link #failuresToOpen} allows failures. One that is not back after {@code timeout} loses its place; its
         * failure counts even then. By default 3, and 30 seconds.
         */
        public Builder probes(int probes, Duration timeout) {
            return with(it -> {
                it.probes = probes;
                it.probeTimeout = Objects.requireNonNull(timeout, "timeout");
            });
        }

        /**
         * So many failures of the probes open the breaker again; at least 1, and at most the {@link #probes}, which are
         * to be set before. It closes when so many have succeeded that this cannot happen any more. By default 1.
         */
        public Builder failuresToOpen(int failures) {
            return with(it -> it.failuresToOpen = failures);
        }

        /**
         * Whether a failure counts as nothing, because it says nothing about the callee. By default none does. It is
         * not called for what counts as nothing anyhow: a {@code CancellationException}, a {@link baton.Refusal}, an
         * {@link Error}.
         */
        public Builder ignoreIf(Predicate<? super Throwable> predicate) {
            return with(it -> it.ignoreIf = Objects.requireNonNull(predicate, "predicate"));
        }

        /** Whether a value of the stage counts as a failure. By default none does. */
        public Builder failureResult(Predicate<? super @Nullable Object> predicate) {
            return with(it -> it.failureResult = Objects.requireNonNull(predicate, "predicate"));
        }

        /**
         * Whether a failure counts as one; otherwise it counts as a success of the callee. By default each does. It is
         * not called for a failure that counts as nothing.
         */
        public Builder isFailure(Predicate<? super Throwable> predicate) {
            return with(it -> it.isFailure = Objects.requireNonNull(predicate, "predicate"));
        }

        /** The clock; by default that of the system. */
        public Builder clock(BatonClock clock) {
            return with(it -> it.clock = Objects.requireNonNull(clock, "clock"));
        }

        /** The name shown by messages; by default null, which is none. */
        public Builder name(@Nullable String name) {
            this.name = name;
            return this;
        }

        /**
         * A closed breaker with these settings.
         *
         * @throws IllegalArgumentException if there are fewer calls in the window than its minimum of calls
         */
        public AsyncCircuitBreaker build() {
            return of(new CircuitBreaker(settings.toConfig(), name));
        }

        <K> CircuitBreakers<K> byKey(Duration keepIdle, int maxKeys) {
            return KeyBridge.circuitBreakers(settings.toConfig(), keepIdle, maxKeys, name);
        }

        @Override
        public String toString() {
            return "Builder of AsyncCircuitBreaker (" + settings + ")";
        }
    }
}
