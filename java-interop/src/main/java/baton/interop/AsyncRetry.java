package baton.interop;

import baton.BatonClock;
import baton.bridge.RetryBridge;
import baton.bridge.RetrySettings;
import baton.interop.internal.futures.RetryFuture;
import baton.resilience.Jitter;
import baton.resilience.RetryAttempt;
import baton.resilience.RetryBudget;
import baton.resilience.RetryPolicy;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Retries for Java: repeats an action that returns a stage until it succeeds, at most as often as a {@link RetryPolicy}
 * allows.
 *
 * <pre>{@code
 * AsyncRetry retry = AsyncRetry.builder()
 *         .maxAttempts(5)
 *         .exponential(Duration.ofMillis(200), Duration.ofSeconds(10))
 *         .attemptTimeout(Duration.ofSeconds(5))
 *         .build();
 * CompletableFuture<HttpResponse<String>> answer = retry.call(
 *         () -> client.sendAsync(request, BodyHandlers.ofString()),
 *         response -> response.statusCode() == 429,
 *         response -> AsyncRetry.parseRetryAfter(response.headers().firstValue("Retry-After")));
 * }</pre>
 *
 * <p>It is immutable, and any number of calls may share it. No method blocks and no call has a thread of its own;
 * threads that may block use {@link #blocking()}.
 *
 * <p><i>Failures.</i> An exception that the action throws counts as the failure of its stage. A {@code
 * CompletionException} is unwrapped before the policy sees it. The future fails with the last failure, with the ten
 * failures before it as suppressed. An exception of a function of the policy or of the call ends the call.
 *
 * <p><i>Results.</i> A result that {@code retryResult} is true for is dropped when another attempt follows and when the
 * future is cancelled meanwhile; the last one is the value of the future. So a result that has to be closed is no case
 * for {@code retryResult}: close it in a dependent of the stage, which fails then with an exception that {@code
 * retryIf} accepts. A stage's value that comes after the end of the future is dropped, as with any CompletableFuture.
 *
 * <p><i>Cancellation.</i> Cancelling the future, completing it from outside, or letting {@code orTimeout} expire ends
 * the call: a wait ends, a running stage is cancelled if that is possible, and the action is not called again. An
 * action whose stage is cancelled is not retried: the future is cancelled, too. An attempt that has timed out is
 * cancelled; the next one begins when its stage has completed, and after the teardowns of a {@link CancellableFuture}.
 * A stage that cannot be cancelled and has a value later counts as a success.
 *
 * <p><i>Callbacks.</i> The first attempt begins on the calling thread. After a wait, the next one begins on a thread of
 * Baton's own, {@code baton-callbacks-…}; without one, on the thread that has completed the stage before it, which is
 * such a thread after a timeout. Baton's timer thread runs none. The functions of the call and of the policy run on the
 * thread that has completed the stage, or has begun the attempt if the stage was complete, and so do dependents of the
 * future. The stack stays flat, however many attempts there are.
 *
 * <p>At its end the future releases the action and the functions. Failures are kept by the exception alone with which
 * it has failed.
 *
 * <p><i>Order</i> and <i>Memory.</i> None beyond that the attempts of a call follow each other.
 */
public final class AsyncRetry {
    private final RetryPolicy policy;

    private AsyncRetry(RetryPolicy policy) {
        this.policy = policy;
    }

    /** Retries by the given policy. */
    public static AsyncRetry of(RetryPolicy policy) {
        return new AsyncRetry(Objects.requireNonNull(policy, "policy"));
    }

    /** A builder that has the defaults of {@link RetryPolicy}. */
    public static Builder builder() {
        return new Builder(new RetrySettings());
    }

    /**
     * The time that the header {@code Retry-After} of HTTP asks to wait: seconds, or a date in one of HTTP's three
     * formats. Empty for no header and for one that is neither.
     */
    public static Optional<Duration> parseRetryAfter(Optional<String> header) {
        return RetryBridge.parseRetryAfter(
                Objects.requireNonNull(header, "header").orElse(null));
    }

    /** The policy. */
    public RetryPolicy kotlin() {
        return policy;
    }

    /** A builder that has the settings of this; its budget is shared, unless another one is given. */
    public Builder toBuilder() {
        return new Builder(new RetrySettings(policy));
    }

    /** A view with the same policy for threads that may block. */
    public BlockingRetry blocking() {
        return new BlockingRetry(policy);
    }

    /** Calls {@code action} until its stage completes normally. */
    public <T extends @Nullable Object> CompletableFuture<T> call(Supplier<? extends CompletionStage<T>> action) {
        Objects.requireNonNull(action, "action");
        return RetryFuture.start(policy, action, null, null);
    }

    /**
     * As {@link #call(Supplier)}, but repeats the action also after a result that {@code retryResult} is true for. If
     * there is no other attempt, the future has that result, or fails if the policy says so. The functions are called as those of the policy are.
     *
     * @param retryAfter the time that such a result asks to wait at least
     */
    public <T extends @Nullable Object> CompletableFuture<T> call(
            Supplier<? extends CompletionStage<T>> action,
            Predicate<? super T> retryResult,
            Function<? super T, Optional<Duration>> retryAfter) {
        Objects.requireNonNull(action, "action");
        Objects.requireNonNull(retryResult, "retryResult");
        Objects.requireNonNull(retryAfter, "retryAfter");
        return RetryFuture.start(policy, action, retryResult, retryAfter);
    }

    @Override
    public String toString() {
        return "AsyncRetry of " + policy;
    }

    /**
     * Builds an {@link AsyncRetry}. Settings that are left out have the defaults of {@link RetryPolicy}. The methods
     * refuse bad arguments.
     */
    public static final class Builder {
        private RetrySettings settings;

        private Builder(RetrySettings settings) {
            this.settings = settings;
        }

        private Builder with(Consumer<RetrySettings> change) {
            settings = settings.with(change);
            return this;
        }

        /** How many attempts there are at most, the first one included; at least 1. By default 3. */
        public Builder maxAttempts(int attempts) {
            return with(it -> it.maxAttempts = attempts);
        }

        /** The same delay after each attempt; {@link #maxDelay} does not shorten it. */
        public Builder constant(Duration delay) {
            return with(it -> it.constant(Objects.requireNonNull(delay, "delay")));
        }

        /** {@code base} after the first attempt, twice the last delay after each other one, at most {@code max}. */
        public Builder exponential(Duration base, Duration max) {
            Objects.requireNonNull(base, "base");
            Objects.requireNonNull(max, "max");
            return with(it -> it.exponential(base)).maxDelay(max);
        }

        /** 1, 1, 2, 3, 5, 8 times {@code base}, and so on, at most {@code max}. */
        public Builder fibonacci(Duration base, Duration max) {
            Objects.requireNonNull(base, "base");
            Objects.requireNonNull(max, "max");
            return with(it -> it.fibonacci(base)).maxDelay(max);
        }

        /** The bound of the delays with their jitter, but for a constant one; by default 30 seconds. */
        public Builder maxDelay(Duration max) {
            return with(it -> it.maxDelay = Objects.requireNonNull(max, "max"));
        }

        /** See {@link Jitter.Factor}; by default 0.5. Zero is no jitter. */
        public Builder jitter(double factor) {
            return with(it -> it.jitter = new Jitter.Factor(factor));
        }

        /** See {@link Jitter.Full}. */
        public Builder fullJitter() {
            return with(it -> it.jitter = Jitter.Full.INSTANCE);
        }

        /** See {@link Jitter.Equal}. */
        public Builder equalJitter() {
            return with(it -> it.jitter = Jitter.Equal.INSTANCE);
        }

        /** See {@link Jitter.Decorrelated}. */
        public Builder decorrelatedJitter() {
            return with(it -> it.jitter = Jitter.Decorrelated.INSTANCE);
        }

        /**
         * How long an attempt may take from the return of the action to the end of its stage, more than zero; by
         * default without limit. Then the stage is cancelled, and the attempt has failed with {@link
         * baton.resilience.AttemptTimeoutException} once it has ended.
         */
        public Builder attemptTimeout(Duration timeout) {
            return with(it -> it.attemptTimeout = Objects.requireNonNull(timeout, "timeout"));
        }

        /** How long after the beginning of a call an attempt may still begin; by default without limit. */
        public Builder maxElapsed(Duration time) {
            return with(it -> it.maxElapsed = Objects.requireNonNull(time, "time"));
        }

        /** The longest Retry-After that is waited for, by default 60 seconds. After a longer one there is no retry. */
        public Builder maxRetryAfter(Duration time) {
            return with(it -> it.maxRetryAfter = Objects.requireNonNull(time, "time"));
        }

        /**
         * Whether a failure is worth another attempt, as long as there are attempts left. By default an {@code
         * IOException} and a {@code TimeoutException} are, that of {@link #attemptTimeout} included, but no {@link
         * baton.Refusal}. If the predicate accepts a refusal, the wait lasts at least for the time that the refusal
         * names; that counts as a {@code Retry-After}. The predicate gets the failure without a {@code
         * CompletionException} or {@code ExecutionException} around it. An {@link Error}, a {@code
         * CancellationException} and an {@code InterruptedException} are never retried, and the predicate is not called.
         */
        public Builder retryIf(Predicate<? super Throwable> predicate) {
            return with(it -> it.retryIf = Objects.requireNonNull(predicate, "predicate"));
        }

        /** The time that a failure asks to wait at least; by default none does. */
        public Builder retryAfter(Function<? super Throwable, Optional<Duration>> time) {
            return with(it -> it.retryAfter = Objects.requireNonNull(time, "time"));
        }

        /**
         * A call whose last result is not accepted fails with {@link baton.resilience.ResultNotAcceptedException}. By
         * default that result is its value.
         */
        public Builder failAfterLast() {
            return with(it -> it.failAfterLast = true);
        }

        /** A budget that the calls of this retry alone share, see {@link RetryBudget}. */
        public Builder budget(double ratio, int burst) {
            return budget(new RetryBudget(ratio, burst));
        }

        /** A budget that other retries share, too. */
        public Builder budget(RetryBudget budget) {
            return with(it -> it.budget = Objects.requireNonNull(budget, "budget"));
        }

        /** Called before the wait for each retry, with the attempt that is to follow. */
        public Builder onRetry(Consumer<? super RetryAttempt> listener) {
            return with(it -> it.onRetry = Objects.requireNonNull(listener, "listener"));
        }

        /** The clock of the waits and of {@link #maxElapsed}; by default that of the system. Threads wait for no other. */
        public Builder clock(BatonClock clock) {
            return with(it -> it.clock = Objects.requireNonNull(clock, "clock"));
        }

        /** The name shown by messages; by default null, which is none. */
        public Builder name(@Nullable String name) {
            return with(it -> it.name = name);
        }

        /** A retry with these settings. */
        public AsyncRetry build() {
            return of(settings.toPolicy());
        }

        @Override
        public String toString() {
            return "Builder of " + settings.toPolicy();
        }
    }
}
