package baton.interop.batch;

import static baton.interop.Futures.await;
import static baton.interop.Futures.awaitFailure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.batch.BatchProcessor;
import baton.batch.BatchProgress;
import baton.batch.BatchReport;
import baton.batch.ConcurrencyConfig;
import baton.interop.AsyncBatchProcessor;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(300)
class AsyncBatchProcessorTest {
    private final AsyncBatchProcessor batch = AsyncBatchProcessor.create(config());
    private final List<Integer> ten = IntStream.rangeClosed(1, 10).boxed().toList();

    private static ConcurrencyConfig config() {
        Properties numbers = new Properties();
        numbers.setProperty("maxConcurrentTasks", "3");
        numbers.setProperty("retry.baseDelayMs", "1");
        // Other tests of this JVM may have filled the heap.
        numbers.setProperty("memory.maxHeapUsageMB", "1000000");
        numbers.setProperty("memory.gcThresholdPercent", "100");
        return ConcurrencyConfig.from(numbers, "");
    }

    @Test
    void process_handsResultsOverInOrder() {
        List<String> handed = Collections.synchronizedList(new ArrayList<>());
        List<BatchProgress> progress = Collections.synchronizedList(new ArrayList<>());
        BatchReport<Integer> report = await(batch.process(
                ten,
                item -> CompletableFuture.supplyAsync(() -> "r" + item),
                (item, result) -> CompletableFuture.runAsync(() -> handed.add(item + result)),
                progress::add));
        assertEquals(ten.stream().map(item -> item + "r" + item).toList(), handed);
        assertEquals(10, report.getSucceeded());
        assertEquals(10, progress.get(progress.size() - 1).getDone());
        assertTrue(report.elapsed().toNanos() > 0);
    }

    @Test
    void process_ofWhatFails_reportsCauseAndAttempts() {
        IOException transientFailure = new IOException("transient");
        BatchReport<Integer> report = await(batch.process(ten, item -> switch (item) {
            case 1 -> CompletableFuture.failedFuture(new CompletionException(transientFailure));
            case 2 -> throw new IllegalStateException("thrown");
            case 3 -> null;
            case 4 -> {
                CompletableFuture<Void> cancelled = new CompletableFuture<>();
                cancelled.cancel(false);
                yield cancelled;
            }
            default -> CompletableFuture.completedFuture(null);
        }));
        assertEquals(
                List.of(1, 2, 3, 4),
                report.getFailed().stream().map(BatchReport.Failed::getItem).toList());
        assertEquals(
                List.of(3, 1, 1, 1),
                report.getFailed().stream().map(BatchReport.Failed::getAttempts).toList());
        assertSame(transientFailure, report.getFailed().get(0).getCause());
        assertEquals(
                "the task returned null, and not a stage",
                report.getFailed().get(2).getCause().getMessage());
        assertInstanceOf(CancellationException.class, report.getFailed().get(3).getCause());
        assertEquals(6, report.getSucceeded());
    }

    @Test
    void process_whoseOnResultAnswersNull_reportsIt() {
        BatchReport<Integer> report = await(batch.process(List.of(1), this::nothing, (item, result) -> null, p -> {}));
        Throwable cause = report.getFailed().get(0).getCause();
        assertEquals("onResult returned null, and not a stage", cause.getMessage());
        assertThrows(
                UnsupportedOperationException.class, () -> report.getFailed().clear());
    }

    @Test
    void process_afterMaxFailures_beginsNothing() {
        BatchReport<Integer> report = await(batch.process(
                ten,
                item -> CompletableFuture.<Void>failedFuture(new IllegalStateException()),
                (item, result) -> CompletableFuture.completedFuture(null),
                1,
                progress -> {}));
        assertEquals(10, report.getFailed().size() + report.getNotStarted().size());
        assertTrue(report.getNotStarted().size() >= 7, report::toString);
    }

    @Test
    void process_cancelled_cancelsTheRunningFutures() throws InterruptedException {
        List<CompletableFuture<String>> running = Collections.synchronizedList(new ArrayList<>());
        CountDownLatch started = new CountDownLatch(3);
        CompletableFuture<BatchReport<Integer>> report = batch.process(ten, item -> {
            CompletableFuture<String> stage = new CompletableFuture<>();
            running.add(stage);
            started.countDown();
            return stage;
        });
        assertTrue(started.await(120, TimeUnit.SECONDS));
        report.cancel(false);
        for (CompletableFuture<String> stage : running)
            assertInstanceOf(CancellationException.class, awaitFailure(stage));
        assertEquals(3, running.size());
    }

    @ParameterizedTest
    @ValueSource(ints = {Integer.MIN_VALUE, -1, 0})
    void process_withMaxFailuresBelowOne_throws(int maxFailures) {
        assertThrows(
                IllegalArgumentException.class,
                () -> batch.process(ten, this::nothing, (item, result) -> nothing(item), maxFailures, progress -> {}));
    }

    private CompletionStage<Void> nothing(Object item) {
        return CompletableFuture.completedFuture(null);
    }

    @Test
    void of_sharesTheKotlinProcessor() {
        BatchProcessor processor = new BatchProcessor(config(), null, null, null, "import", null);
        assertSame(processor, AsyncBatchProcessor.of(processor).kotlin());
        assertTrue(AsyncBatchProcessor.of(processor).toString().startsWith("AsyncBatchProcessor 'import' ("));
    }
}
