package baton.interop;

import baton.batch.BatchProcessor;
import baton.batch.BatchProgress;
import baton.batch.BatchReport;
import baton.batch.ConcurrencyConfig;
import baton.bridge.BatchBridge;
import baton.interop.internal.futures.CallerContext;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A {@link BatchProcessor} for Java: runs a task for each of many items, so many at a time, with retries, and reports
 * what became of every item. Its class describes bounds, order and failures.
 *
 * <pre>{@code
 * AsyncBatchProcessor batch = AsyncBatchProcessor.create(ConcurrencyConfig.from(System.getProperties(), "import."));
 * CompletableFuture<BatchReport<URI>> report = batch.process(urls, this::fetch, (url, page) -> store(page), p -> {});
 * }</pre>
 *
 * <p>A stage that fails with a {@code CompletionException} fails its item with the cause of that, and one that is
 * cancelled with a {@code CancellationException}. So does a function that throws, or that returns null in place of a
 * stage.
 *
 * <p><i>Threads.</i> All functions are called on threads of the common pool, or of {@code Dispatchers.IO} where that pool
 * has none, and must not block for long.
 *
 * <p><i>Cancellation.</i> Cancelling the future cancels the stages that run, if they are futures, and begins no other.
 *
 * <p>All methods may be called from any thread.
 */
public final class AsyncBatchProcessor {
    private final BatchProcessor processor;

    private AsyncBatchProcessor(BatchProcessor processor) {
        this.processor = processor;
    }

    /**
     * A processor with the numbers of {@code config}. It tries a task again after an {@code IOException} and a {@code
     * TimeoutException} that is no {@link baton.Refusal}. For other exceptions give {@link #of} a processor that has a
     * policy, such as {@code new BatchProcessor(config, AsyncRetry.builder().retryIf(…).build().kotlin(), null, null,
     * null, null)}.
     */
    public static AsyncBatchProcessor create(ConcurrencyConfig config) {
        Objects.requireNonNull(config, "config");
        return of(new BatchProcessor(config, null, null, null, null, null));
    }

    /** The Java API of the given processor, which may have a policy, a limiter and a breaker. */
    public static AsyncBatchProcessor of(BatchProcessor processor) {
        return new AsyncBatchProcessor(Objects.requireNonNull(processor, "processor"));
    }

    /** The Kotlin processor behind this. */
    public BatchProcessor kotlin() {
        return processor;
    }

    /** Runs the task for each of the items; the results are dropped. */
    public <T extends @Nullable Object, R extends @Nullable Object> CompletableFuture<BatchReport<T>> process(
            Iterable<? extends T> items, Function<? super T, ? extends CompletionStage<R>> task) {
        return process(items, task, (item, result) -> CompletableFuture.completedFuture(null), progress -> {});
    }

    /**
     * Runs the task for each of the items.
     *
     * @param onResult gets each item with its result, one after another in the order of the items. An item
     *     has succeeded when the stage that this returns has completed normally.
     * @param onProgress called for each item of a batch that is complete, and for the last time when all items have
     *     ended. An exception of it ends the call.
     */
    public <T extends @Nullable Object, R extends @Nullable Object> CompletableFuture<BatchReport<T>> process(
            Iterable<? extends T> items,
            Function<? super T, ? extends CompletionStage<R>> task,
            BiFunction<? super T, ? super R, ? extends CompletionStage<?>> onResult,
            Consumer<? super BatchProgress> onProgress) {
        return process(items, task, onResult, Integer.MAX_VALUE, onProgress);
    }

    /**
     * As the other, with a bound of the failures.
     *
     * @param maxFailures after so many failed items no task is begun; those that run are awaited, with their other
     *     attempts
     * @throws IllegalArgumentException if {@code maxFailures} is below 1
     */
    @SuppressWarnings("unchecked") // Items are only read.
    public <T extends @Nullable Object, R extends @Nullable Object> CompletableFuture<BatchReport<T>> process(
            Iterable<? extends T> items,
            Function<? super T, ? extends CompletionStage<R>> task,
            BiFunction<? super T, ? super R, ? extends CompletionStage<?>> onResult,
            int maxFailures,
            Consumer<? super BatchProgress> onProgress) {
        Objects.requireNonNull(items, "items");
        Objects.requireNonNull(task, "task");
        Objects.requireNonNull(onResult, "onResult");
        Objects.requireNonNull(onProgress, "onProgress");
        if (maxFailures < 1)
            throw new IllegalArgumentException("maxFailures = " + maxFailures + ", must be at least 1");
        Executor executor = Objects.requireNonNull(CallerContext.executor(AsyncTaskSchedulerBuilder.defaultExecutor()));
        return BatchBridge.process(processor, (Iterable<T>) items, task, onResult, maxFailures, onProgress, executor);
    }

    @Override
    public String toString() {
        return "Async" + processor;
    }
}
