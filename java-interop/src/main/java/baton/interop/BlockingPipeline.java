package baton.interop;

import baton.CallGuard;
import baton.bridge.CallWatch;
import baton.bridge.FutureGuard;
import baton.bridge.PassageWatch;
import baton.bridge.PipelineLayers;
import baton.bridge.RetryBridge;
import baton.interop.internal.blocking.ThreadRetry;
import baton.interop.internal.futures.CallerContext;
import baton.interop.internal.futures.HedgeFuture;
import baton.interop.internal.futures.StageGuard;
import baton.interop.internal.futures.Stages;
import baton.interop.internal.futures.ThreadCall;
import baton.interop.internal.parallel.BlockingThreads;
import baton.resilience.CircuitBreaker;
import baton.resilience.RateLimiter;
import baton.sync.Semaphore;
import baton.waiting.ThreadWaiter;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * A {@link baton.resilience.ResiliencePipeline} for threads that may block: virtual threads above all. Made by
 * {@link AsyncPipeline#blocking()}.
 *
 * <pre>{@code
 * String text = upstream.blocking().call(() -> fetch());
 * }</pre>
 *
 * <p>It has no state of its own. All attempts run on the calling thread, which parks while it waits. With a hedge they
 * run on threads of Baton's own instead, virtual ones since JDK 21, in the caller's context; the attempts that have lost
 * are interrupted, and not waited for.
 *
 * <p><i>Interrupts.</i> An interrupt ends the call in every layer, as in the blocking views of the parts: what it holds
 * goes back, it counts as nothing, and the fallback is not called. An attempt that takes longer than {@code
 * attemptTimeout} is interrupted.
 *
 * <p><i>Failures.</i> The last failure is thrown. The cause of a CompletionException or ExecutionException stands for
 * it, as in the futures.
 */
public final class BlockingPipeline {
    private final PipelineLayers layers;

    BlockingPipeline(PipelineLayers layers) {
        this.layers = layers;
    }

    /**
     * Runs {@code action} through the layers, and returns its value.
     *
     * @throws InterruptedException if the thread is interrupted before the call, or while it waits
     */
    public <T extends @Nullable Object> T call(Callable<T> action) throws Exception {
        return watched(Objects.requireNonNull(action, "action"), null);
    }

    /**
     * As the other. If the call has failed or was refused, {@code fallback} makes the value from the failure. If that
     * throws, the first failure is suppressed. It is not called for an {@link Error}, a cancellation or an interrupt.
     */
    public <T extends @Nullable Object> T call(
            Callable<T> action, BlockingFunction<? super Throwable, ? extends T> fallback) throws Exception {
        Objects.requireNonNull(action, "action");
        return watched(action, Objects.requireNonNull(fallback, "fallback"));
    }

    private <T extends @Nullable Object> T watched(
            Callable<T> action, @Nullable BlockingFunction<? super Throwable, ? extends T> fallback) throws Exception {
        CallWatch watch = layers.watch();
        Throwable failure;
        try {
            T value = attempts(action, watch);
            if (watch != null) watch.succeeded(value);
            return value;
        } catch (Throwable e) {
            failure = Stages.unwrap(e);
        }
        boolean isActive = isActive(failure);
        if (watch != null) watch.failed(failure, isActive);
        if (fallback == null || !isActive || RetryBridge.isCancellation(failure, isActive))
            throw Stages.asException(failure);
        if (failure instanceof Error error) throw error;
        try {
            return fallback.apply(failure);
        } catch (Throwable e) {
            RetryBridge.suppress(failure, e);
            throw e;
        }
    }

    private static boolean isActive(Throwable failure) {
        return !(failure instanceof InterruptedException)
                && !Thread.currentThread().isInterrupted();
    }

    private <T extends @Nullable Object> T attempts(Callable<T> action, @Nullable CallWatch watch) throws Exception {
        ThreadWaiter.throwIfInterrupted(); // No layer may do so, and a race that ends at once does not.
        if (layers.retry == null) return attempt(action, watch);
        Callable<T> attempt = () -> attempt(action, watch);
        if (layers.failureResult == null) return ThreadRetry.call(layers.retry, attempt, null, null);
        return ThreadRetry.call(layers.retry, attempt, layers.failureResult, value -> Optional.empty());
    }

    private <T extends @Nullable Object> T attempt(Callable<T> action, @Nullable CallWatch watch) throws Exception {
        PassageWatch passage = watch == null ? null : watch.passage();
        try {
            return layers.breaker == null
                    ? raced(action, watch, () -> begun(passage))
                    : counted(layers.breaker, action, watch, passage);
        } finally {
            if (passage != null) passage.ended();
        }
    }

    private static void begun(@Nullable PassageWatch passage) {
        if (passage != null) passage.begun();
    }

    private <T extends @Nullable Object> T counted(
            CircuitBreaker breaker, Callable<T> action, @Nullable CallWatch watch, @Nullable PassageWatch passage)
            throws Exception {
        return BlockingCircuitBreaker.call(
                breaker,
                restart -> raced(action, watch, () -> {
                    restart.run();
                    begun(passage);
                }));
    }

    private <T extends @Nullable Object> T raced(Callable<T> action, @Nullable CallWatch watch, Runnable onBegin)
            throws Exception {
        if (layers.hedgeAfter == null) return guarded(action, false, onBegin);
        Set<ThreadCall<?>> running = ConcurrentHashMap.newKeySet();
        CallerContext context = CallerContext.capture(null);
        Executor threads = BlockingThreads.ofCall(BlockingThreads.defaultExecutor(), layers.hedgeAttempts);
        CompletableFuture<T> race = HedgeFuture.start(layers, hedge -> {
            Runnable begin = hedge != null
                    ? () -> {
                        onBegin.run();
                        hedge.run();
                    }
                    : watch == null ? () -> {} : watch::begun;
            ThreadCall<T> thread = new ThreadCall<>(() -> guarded(action, hedge == null, begin), running);
            threads.execute(() -> CallerContext.runFor(context, thread));
            return thread;
        });
        return awaited(race);
    }

    /** The value of the future, which an interrupt cancels. */
    private static <V extends @Nullable Object> V awaited(CompletableFuture<V> future) throws Exception {
        try {
            return future.get();
        } catch (InterruptedException e) {
            future.cancel(true);
            throw e;
        } catch (ExecutionException | CancellationException e) {
            // On new JDKs get() wraps a cancellation, too, and a time limit of the block would be none.
            throw Stages.asException(Stages.unwrap(failureOf(future, e)));
        }
    }

    private static Throwable failureOf(CompletableFuture<?> future, Exception otherwise) {
        return future.<Throwable>handle((value, failure) -> failure == null ? otherwise : failure)
                .join();
    }

    private <T extends @Nullable Object> T guarded(Callable<T> action, boolean now, Runnable onBegin) throws Exception {
        Duration wait = now ? Duration.ZERO : layers.maxWait;
        return admitted(
                layers.limiter,
                wait,
                () -> admitted(layers.semaphore, wait, () -> {
                    onBegin.run();
                    return layers.isTimed ? ThreadRetry.call(layers.limit, action, null, null) : action.call();
                }));
    }

    private static <T extends @Nullable Object> T admitted(
            @Nullable CallGuard guard, @Nullable Duration wait, Callable<T> action) throws Exception {
        if (guard instanceof RateLimiter limiter) {
            BlockingRateLimiter view = new BlockingRateLimiter(limiter);
            return wait == null ? view.call(action) : view.call(wait, action);
        }
        if (guard instanceof Semaphore semaphore) {
            BlockingSemaphore view = new BlockingSemaphore(semaphore);
            return wait == null ? view.call(action) : view.call(wait, action);
        }
        return guard instanceof FutureGuard future ? admitted(future, wait, action) : action.call();
    }

    private static <T extends @Nullable Object> T admitted(
            FutureGuard guard, @Nullable Duration wait, Callable<T> action) throws Exception {
        ThreadWaiter.throwIfInterrupted();
        CompletableFuture<? extends AutoCloseable> admission = guard.admit(wait);
        AutoCloseable held;
        try {
            held = awaited(admission);
        } catch (InterruptedException e) {
            var unused = admission.thenAccept(StageGuard::closeUnused); // admitted just before the interrupt
            throw e;
        }
        T value;
        try {
            value = action.call();
        } catch (Throwable e) {
            try {
                held.close();
            } catch (Throwable other) {
                RetryBridge.suppress(other, Stages.unwrap(e)); // the failure of the call
            }
            throw e;
        }
        held.close();
        return value;
    }

    @Override
    public String toString() {
        return "BlockingPipeline of " + layers;
    }
}
