package baton.interop;

import baton.BatonClock;
import baton.CallGuard;
import baton.bridge.BreakerBridge;
import baton.bridge.FutureGuard;
import baton.bridge.PipelineLayers;
import baton.bridge.PipelineSettings;
import baton.interop.internal.futures.PipelineFuture;
import baton.interop.internal.futures.RateRequests;
import baton.interop.internal.futures.StageGuard;
import baton.monitoring.CallEvent;
import baton.resilience.RateLimiter;
import baton.resilience.ResiliencePipeline;
import baton.sync.Semaphore;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A {@link ResiliencePipeline} for Java: calls of one callee through all layers of protection, in the order in which
 * they work together. From the outside in: fallback, retry, breaker, hedging, limiter, semaphore, the attempt's
 * timeout; each may be missing. {@link ResiliencePipeline} says what each layer sees of the others.
 *
 * <pre>{@code
 * AsyncPipeline upstream = AsyncPipeline.builder("billing")
 *         .retry(retry)
 *         .breaker(breaker)
 *         .limiter(limiter)
 *         .semaphore(semaphore)
 *         .maxWait(Duration.ofMillis(200))
 *         .attemptTimeout(Duration.ofSeconds(2))
 *         .build();
 * CompletableFuture<String> answer = upstream.call(() -> client.sendAsync(request, BodyHandlers.ofString())
 *         .thenApply(HttpResponse::body));
 * String text = upstream.blocking().call(() -> fetch());
 * }</pre>
 *
 * <p>It has no state of its own: Java futures, Kotlin coroutines and threads go through the same layers. No method
 * blocks; threads that may block use {@link #blocking()}.
 *
 * <p><i>Cancellation.</i> Cancelling the future, completing it from outside, or letting {@code orTimeout} expire ends
 * the call in every layer: a request is withdrawn, the stage of a running action is cancelled, and its permit goes back
 * when that stage has completed; the fallback is not called. The attempts of a hedge that have lost are cancelled, and
 * not waited for.
 *
 * <p><i>Callbacks.</i> As in each layer: the first attempt begins on the calling thread if it need not wait, and the
 * fallback runs on the thread that ends the last attempt. <i>Failures</i> arrive in the future, without a {@code
 * CompletionException} around them.
 *
 * <p><i>Order</i> and <i>Memory.</i> Those of the layers.
 */
public final class AsyncPipeline {
    private final ResiliencePipeline pipeline;
    private final PipelineLayers layers;
    private final PipelineFuture.Guards guards;

    private AsyncPipeline(ResiliencePipeline pipeline) {
        this.pipeline = pipeline;
        this.layers = new PipelineLayers(pipeline);
        this.guards = new PipelineFuture.Guards(requestsOf(layers.limiter), requestsOf(layers.semaphore));
    }

    /** The requests at a guard, which is one of those that {@link PipelineLayers} accepts. */
    private static @Nullable Function<@Nullable Duration, ? extends CompletableFuture<? extends AutoCloseable>>
            requestsOf(@Nullable CallGuard guard) {
        if (guard instanceof RateLimiter limiter) return new RateRequests(limiter)::permit;
        if (guard instanceof Semaphore semaphore) return AsyncSemaphore.of(semaphore)::permit;
        return guard instanceof FutureGuard future ? future::admit : null;
    }

    /**
     * The Java API of the given pipeline; the two share all layers.
     *
     * @throws IllegalArgumentException if a guard of it is neither a {@code RateLimiter}, nor a {@code Semaphore}, nor
     *     an {@link AsyncCallGuard} of a builder: another guard suspends
     */
    public static AsyncPipeline of(ResiliencePipeline pipeline) {
        return new AsyncPipeline(Objects.requireNonNull(pipeline, "pipeline"));
    }

    /**
     * A builder of a pipeline without layers.
     *
     * @param name shown by messages and {@code toString}, and the name of its meters; or null
     */
    public static Builder builder(@Nullable String name) {
        return new Builder(name);
    }

    /** The Kotlin pipeline behind this. */
    public ResiliencePipeline kotlin() {
        return pipeline;
    }

    /** A view of the same pipeline for threads that may block. */
    public BlockingPipeline blocking() {
        return new BlockingPipeline(layers);
    }

    /** Runs {@code action} through the layers. The future completes as its last attempt does. */
    public <T extends @Nullable Object> CompletableFuture<T> call(Supplier<? extends CompletionStage<T>> action) {
        return PipelineFuture.run(layers, guards, Objects.requireNonNull(action, "action"), null);
    }

    /**
     * As the other. If the call has failed or was refused, the future completes as the stage that {@code fallback} makes
     * from the failure; if that fails, with the first failure as suppressed. It is not called for an {@link Error}, a
     * cancellation or an interrupt.
     */
    public <T extends @Nullable Object> CompletableFuture<T> call(
            Supplier<? extends CompletionStage<T>> action,
            Function<? super Throwable, ? extends CompletionStage<T>> fallback) {
        Objects.requireNonNull(action, "action");
        return PipelineFuture.run(layers, guards, action, Objects.requireNonNull(fallback, "fallback"));
    }

    /**
     * Calls {@code listener} at the end of each call that begins from now on, until the result is closed: on the thread
     * that ends the call, before its future completes and before the fallback. Its exceptions go to that thread's
     * handler of uncaught exceptions.
     */
    public AutoCloseable onCall(Consumer<? super CallEvent> listener) {
        return BreakerBridge.onCall(pipeline, Objects.requireNonNull(listener, "listener"));
    }

    @Override
    public String toString() {
        return "AsyncPipeline of " + pipeline;
    }

    /** Builds an {@link AsyncPipeline}. A layer that is left out is missing. The methods refuse bad arguments. */
    public static final class Builder {
        private final @Nullable String name;
        private PipelineSettings settings = new PipelineSettings();

        private Builder(@Nullable String name) {
            this.name = name;
        }

        private Builder with(Consumer<PipelineSettings> change) {
            settings = settings.with(change);
            return this;
        }

        /** Repeats attempts, as its policy says. That must have no {@code attemptTimeout}: the pipeline has one. */
        public Builder retry(AsyncRetry retry) {
            return with(it -> it.retry = Objects.requireNonNull(retry, "retry").kotlin());
        }

        /** Counts each attempt, and refuses it while it is open. */
        public Builder breaker(AsyncCircuitBreaker breaker) {
            return with(it ->
                    it.breaker = Objects.requireNonNull(breaker, "breaker").kotlin());
        }

        /** Each attempt takes a permit of it. */
        public Builder limiter(AsyncRateLimiter limiter) {
            return with(it ->
                    it.limiter = Objects.requireNonNull(limiter, "limiter").kotlin());
        }

        /** Each attempt holds a permit of it. */
        public Builder semaphore(AsyncSemaphore semaphore) {
            return with(it -> it.semaphore =
                    Objects.requireNonNull(semaphore, "semaphore").kotlin());
        }

        /** As the other, with a guard of the application. */
        public Builder limiter(AsyncCallGuard limiter) {
            Objects.requireNonNull(limiter, "limiter");
            return with(it -> it.limiter = new StageGuard(limiter));
        }

        /** As the other, with a guard of the application. */
        public Builder semaphore(AsyncCallGuard semaphore) {
            Objects.requireNonNull(semaphore, "semaphore");
            return with(it -> it.semaphore = new StageGuard(semaphore));
        }

        /**
         * Begins another attempt when one has been silent for {@code after}, up to {@code attempts} at the same time;
         * the first success wins. Only for calls that may run several times at once, such as reads. See {@link
         * baton.resilience.Hedge}.
         */
        public Builder hedge(Duration after, int attempts) {
            Objects.requireNonNull(after, "after");
            return with(it -> it.hedge(after, attempts));
        }

        /** How long an attempt waits for each of limiter and semaphore, at least zero; by default without limit. */
        public Builder maxWait(Duration time) {
            return with(it -> it.maxWait = Objects.requireNonNull(time, "time"));
        }

        /** How long an attempt may take, as in {@link AsyncRetry.Builder#attemptTimeout}; by default without limit. */
        public Builder attemptTimeout(Duration timeout) {
            return with(it -> it.attemptTimeout = Objects.requireNonNull(timeout, "timeout"));
        }

        /** The clock of the timeout and the hedge; by default that of the system. */
        public Builder clock(BatonClock clock) {
            return with(it -> it.clock = Objects.requireNonNull(clock, "clock"));
        }

        /** A pipeline with these layers. */
        public AsyncPipeline build() {
            return of(settings.toPipeline(name));
        }

        @Override
        public String toString() {
            return "Builder of Async" + settings.toPipeline(name);
        }
    }
}
