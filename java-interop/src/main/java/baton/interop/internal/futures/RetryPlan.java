package baton.interop.internal.futures;

import baton.bridge.RetryBridge;
import baton.bridge.RetryCall;
import baton.resilience.RetryPolicy;
import baton.waiting.clock.BoundClock;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The policy and the functions of a {@link RetryFuture}, which needs them until it ends, and the context in which they run. */
final class RetryPlan<T extends @Nullable Object> {
    final RetryPolicy policy;
    final @Nullable Predicate<? super T> retryResult;
    final @Nullable Function<? super T, Optional<Duration>> retryAfter;
    private final Supplier<? extends CompletionStage<T>> action;

    /** A {@link CallerContext}, or null. */
    final @Nullable Executor context = CallerContext.executor(null);

    private final @Nullable BoundClock begin;

    /** The decisions; made when the first one is needed. */
    private @Nullable RetryCall call;

    RetryPlan(
            RetryPolicy policy,
            Supplier<? extends CompletionStage<T>> action,
            @Nullable Predicate<? super T> retryResult,
            @Nullable Function<? super T, Optional<Duration>> retryAfter) {
        this.policy = policy;
        this.action = action;
        this.retryResult = retryResult;
        this.retryAfter = retryAfter;
        begin = RetryBridge.begin(policy);
    }

    /** The stage of another attempt; a failed one if the action throws. */
    CompletionStage<T> newStage() {
        try {
            return Objects.requireNonNull(action.get(), "the action returned null instead of a stage");
        } catch (Throwable e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /** Whether the result is the call's, with no other attempt. */
    boolean accepts(T result) {
        return retryResult == null || !retryResult.test(result);
    }

    /** Goes on after a result that is not accepted; false if the call ends with it. */
    boolean advance(T result) {
        return retryAfter != null && call().advance(result, retryAfter);
    }

    RetryCall call() {
        RetryCall existing = call;
        if (existing == null) call = existing = new RetryCall(policy, begin);
        return existing;
    }
}
