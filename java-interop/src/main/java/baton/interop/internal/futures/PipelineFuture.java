package baton.interop.internal.futures;

import baton.bridge.CallWatch;
import baton.bridge.PassageWatch;
import baton.bridge.PipelineLayers;
import baton.bridge.RetryBridge;
import baton.resilience.CircuitBreaker;
import baton.resilience.RetryPolicy;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The future of a call of a pipeline that has a fallback or listeners. The other layers are futures of their own, one
 * inside the other: {@link RetryFuture}, {@link ProtectFuture}, {@link HedgeFuture}, {@link WithPermitFuture}. The end
 * of the outermost of them is an event for the listeners, and then the end of this or the begin of the fallback.
 */
public final class PipelineFuture<T extends @Nullable Object> extends RevocableFuture<T>
        implements BiConsumer<@Nullable T, @Nullable Throwable> {
    private final PipelineLayers layers;
    private final @Nullable CallWatch watch;
    private @Nullable Function<? super Throwable, ? extends CompletionStage<T>> fallback;

    /** The stage of the layers, or that of the fallback; null once it has completed. */
    private volatile @Nullable CompletionStage<T> running;

    /**
     * The requests for a permit at each guard of a pipeline, within a time, or without a limit for null.
     *
     * @param limiter null if there is none
     * @param semaphore null if there is none
     */
    public record Guards(
            @Nullable Function<@Nullable Duration, ? extends CompletableFuture<? extends AutoCloseable>> limiter,
            @Nullable Function<@Nullable Duration, ? extends CompletableFuture<? extends AutoCloseable>> semaphore) {}

    private PipelineFuture(
            PipelineLayers layers,
            @Nullable CallWatch watch,
            @Nullable Function<? super Throwable, ? extends CompletionStage<T>> fallback) {
        this.layers = layers;
        this.watch = watch;
        this.fallback = fallback;
    }

    /** Runs the action through the layers. */
    public static <T extends @Nullable Object> CompletableFuture<T> run(
            PipelineLayers layers,
            Guards guards,
            Supplier<? extends CompletionStage<T>> action,
            @Nullable Function<? super Throwable, ? extends CompletionStage<T>> fallback) {
        CallWatch watch = layers.watch();
        Call<T> call = new Call<>(layers, guards, CallerContext.supplier(action), watch);
        if (watch == null && fallback == null) return call.retried();
        var bound = fallback == null ? null : CallerContext.function(fallback);
        PipelineFuture<T> future = new PipelineFuture<>(layers, watch, bound);
        CompletableFuture<T> stage = call.retried();
        future.running = stage;
        var unused = stage.whenComplete(future);
        return future;
    }

    /** The layers have ended. */
    @Override
    public void accept(@Nullable T value, @Nullable Throwable failure) {
        running = null;
        if (failure == null) {
            if (watch != null) watch.succeeded(value);
            endAfterStage(value, null);
            return;
        }
        Throwable why = Stages.unwrap(failure);
        boolean isActive = !isDone();
        if (watch != null) watch.failed(why, isActive);
        Function<? super Throwable, ? extends CompletionStage<T>> last = fallback;
        fallback = null;
        if (last == null || isDone() || why instanceof Error || RetryBridge.isCancellation(why, isActive))
            endAfterStage(null, why);
        else fallBack(last, why);
    }

    private void fallBack(Function<? super Throwable, ? extends CompletionStage<T>> last, Throwable why) {
        try {
            CompletionStage<T> stage =
                    Objects.requireNonNull(last.apply(why), "the fallback returned null instead of a stage");
            running = stage;
            var unused = stage.whenComplete((value, e) -> {
                running = null;
                if (e == null) endAfterStage(value, null);
                else failFallback(Stages.unwrap(e), why);
            });
            if (isDone()) cancelRunning();
        } catch (Throwable e) {
            failFallback(e, why);
        }
    }

    private void failFallback(Throwable failure, Throwable why) {
        RetryBridge.suppress(why, failure);
        endAfterStage(null, failure);
    }

    @Override
    protected void withdraw() {}

    @Override
    protected void cancelRunning() {
        CompletionStage<T> stage = running;
        if (stage != null) Stages.cancel(stage);
    }

    @Override
    protected String call() {
        return "call of " + layers;
    }

    @Override
    protected String description() {
        return call();
    }

    /** One call: the futures of its layers, from the outside in. */
    private record Call<T extends @Nullable Object>(
            PipelineLayers layers,
            Guards guards,
            Supplier<? extends CompletionStage<T>> action,
            @Nullable CallWatch watch) {

        CompletableFuture<T> retried() {
            if (layers.retry == null) return hasParts() ? counted().toCompletableFuture() : single(this::counted);
            if (layers.failureResult == null) return RetryFuture.start(layers.retry, this::counted, null, null);
            return RetryFuture.start(layers.retry, this::counted, layers.failureResult, value -> Optional.empty());
        }

        private boolean hasParts() {
            return layers.breaker != null || layers.hedgeAfter != null || hasGuards();
        }

        private boolean hasGuards() {
            return layers.limiter != null || layers.semaphore != null;
        }

        private CompletableFuture<T> single(Supplier<? extends CompletionStage<T>> attempt) {
            return RetryFuture.start(layers.limit, attempt, null, null);
        }

        private CompletionStage<T> counted() {
            PassageWatch passage = watch == null ? null : watch.passage();
            CircuitBreaker breaker = layers.breaker;
            CompletionStage<T> stage = breaker == null
                    ? raced(passage, null)
                    : ProtectFuture.run(breaker, future -> raced(passage, future));
            // The wait of an attempt that is refused ends here, or in the watch: this may run after the next attempt
            // has begun, and after the call has ended, because dependents of a future run in any order.
            if (passage != null) stage.whenComplete((value, e) -> passage.ended());
            return stage;
        }

        private CompletionStage<T> raced(@Nullable PassageWatch passage, @Nullable ProtectFuture<T> counted) {
            Runnable onBegin = () -> {
                if (counted != null) counted.restart();
                if (passage != null) passage.begun();
            };
            if (layers.hedgeAfter == null) return guarded(false, onBegin);
            return HedgeFuture.start(layers, hedge -> {
                if (hedge == null) return guarded(true, watch == null ? () -> {} : watch::begun);
                return guarded(false, () -> {
                    onBegin.run();
                    hedge.run();
                });
            });
        }

        private CompletionStage<T> guarded(boolean now, Runnable onBegin) {
            var limiter = guards.limiter;
            if (limiter == null) return held(now, onBegin);
            return WithPermitFuture.run(() -> held(now, onBegin), limiter.apply(wait(now)), null);
        }

        private CompletionStage<T> held(boolean now, Runnable onBegin) {
            var semaphore = guards.semaphore;
            if (semaphore == null) return timed(onBegin);
            return WithPermitFuture.run(() -> timed(onBegin), semaphore.apply(wait(now)), null);
        }

        /** How long to wait for a permit: not at all if it is to be had now. */
        private @Nullable Duration wait(boolean now) {
            return now ? Duration.ZERO : layers.maxWait;
        }

        private CompletionStage<T> timed(Runnable onBegin) {
            onBegin.run();
            return layers.isTimed ? new TimedAttempt<T>().start(layers.limit, action) : action.get();
        }
    }

    /**
     * An attempt with a time limit, for which a permit is held: cancelling it cancels the stage of the action, and it
     * completes when that stage has, as the attempt without a limit does.
     */
    private static final class TimedAttempt<T extends @Nullable Object> extends CompletableFuture<T>
            implements BiConsumer<@Nullable T, @Nullable Throwable> {
        private volatile @Nullable CompletionStage<T> running;

        TimedAttempt<T> start(RetryPolicy limit, Supplier<? extends CompletionStage<T>> action) {
            var unused =
                    RetryFuture.start(limit, () -> begin(action), null, null).whenComplete(this);
            return this;
        }

        private CompletionStage<T> begin(Supplier<? extends CompletionStage<T>> action) {
            CompletionStage<T> stage = action.get();
            running = stage;
            return stage;
        }

        @Override
        public void accept(@Nullable T value, @Nullable Throwable failure) {
            running = null;
            CallbackExecutor.complete(this, () -> {
                if (failure == null) complete(value);
                else completeExceptionally(Stages.unwrap(failure));
            });
        }

        @Override
        public boolean cancel(boolean mayInterruptIfRunning) {
            CompletionStage<T> stage = running;
            if (stage != null) Stages.cancel(stage);
            return isCancelled();
        }
    }
}
