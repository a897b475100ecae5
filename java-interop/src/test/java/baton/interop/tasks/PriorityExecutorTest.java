package baton.interop.tasks;

import static baton.interop.Futures.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.Priority;
import baton.interop.Futures;
import baton.interop.PriorityExecutor;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PriorityExecutorTest {
    private final Futures.Steps steps = new Futures.Steps();
    private final PriorityExecutor normal = PriorityExecutor.over(steps, 1);
    private final List<Object> ran = new ArrayList<>();
    private final ExecutorService pool = Executors.newSingleThreadExecutor();

    @AfterEach
    void endPool() throws InterruptedException {
        pool.shutdownNow();
        assertTrue(pool.awaitTermination(120, TimeUnit.SECONDS));
    }

    @Test
    void tasks_ofAllLevels_runTheMostUrgentFirst() {
        List<Priority> levels = new ArrayList<>(List.of(Priority.values()));
        Collections.reverse(levels);
        for (int i = 0; i < 2; i++) {
            for (Priority level : levels) {
                var unused = normal.level(level).submit(() -> ran.add(level));
            }
        }
        steps.runAll();
        List<Object> expected = new ArrayList<>();
        for (Priority level : Priority.values()) expected.addAll(List.of(level, level));
        assertEquals(expected, ran);
    }

    @Test
    void submit_returnsValueAndFailure() throws Exception {
        Future<Integer> value = normal.submit(() -> 42);
        Future<Integer> failed = normal.submit((Callable<Integer>) () -> {
            throw new IllegalStateException("broken");
        });
        CompletableFuture<Integer> stage = CompletableFuture.supplyAsync(() -> 43, normal);
        steps.runAll();
        assertEquals(42, value.get());
        assertEquals(43, stage.join());
        assertEquals(
                "broken",
                assertThrows(ExecutionException.class, failed::get).getCause().getMessage());
    }

    @Test
    void invokeAll_onThreads_returnsAll() throws Exception {
        PriorityExecutor executor = PriorityExecutor.over(pool, 2);
        List<Integer> values = new ArrayList<>();
        List<Callable<Integer>> calls = List.of(() -> 1, () -> 2, () -> 3);
        for (Future<Integer> future : executor.invokeAll(calls)) values.add(future.get());
        assertEquals(List.of(1, 2, 3), values);
    }

    @Test
    void execute_throwing_goesToTheHandlerAndTheNextRuns() {
        Futures.reportingTo(e -> ran.add(e.getMessage()), () -> {
            normal.execute(() -> {
                throw new IllegalStateException("broken");
            });
            normal.execute(() -> ran.add("next"));
            steps.runAll();
            assertEquals(List.of("broken", "next"), ran);
        });
    }

    @Test
    void cancel_beforeItHasASlot_neverRuns() {
        Future<?> future = normal.submit(() -> ran.add("cancelled"));
        assertTrue(future.cancel(false));
        steps.runAll();
        assertEquals(List.of(), ran);
    }

    @Test
    void shutdown_letsWhatWaitsRunAndRefusesTheRest() throws Exception {
        PriorityExecutor high = normal.level(Priority.HIGH);
        normal.execute(() -> ran.add("waits"));
        normal.shutdown();
        normal.shutdown();
        var e = assertThrows(RejectedExecutionException.class, () -> normal.execute(() -> ran.add("too late")));
        assertTrue(e.getMessage().contains(normal.toString()), e.getMessage());
        assertTrue(normal.isShutdown());
        assertFalse(normal.isTerminated());
        assertFalse(normal.awaitTermination(0, TimeUnit.SECONDS));
        steps.runAll();
        assertTrue(normal.isTerminated() && normal.awaitTermination(0, TimeUnit.SECONDS));
        assertFalse(high.isShutdown());
        high.execute(() -> ran.add("another level"));
        steps.runAll();
        assertEquals(List.of("waits", "another level"), ran);
    }

    @Test
    void shutdownNow_interruptsWhatRunsAndNothingElse() throws Exception {
        PriorityExecutor executor = PriorityExecutor.over(pool, 1);
        PriorityExecutor other = executor.level(Priority.LOW);
        CountDownLatch runs = new CountDownLatch(1);
        Future<String> interrupted = executor.submit(() -> {
            runs.countDown();
            try {
                new CountDownLatch(1).await();
                return "never";
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return "interrupted";
            }
        });
        Future<Boolean> next = other.submit(() -> Thread.currentThread().isInterrupted());
        assertTrue(runs.await(120, TimeUnit.SECONDS));
        assertEquals(List.of(), executor.shutdownNow());
        assertEquals("interrupted", interrupted.get(120, TimeUnit.SECONDS));
        assertFalse(next.get(120, TimeUnit.SECONDS));
        assertTrue(executor.awaitTermination(120, TimeUnit.SECONDS));
    }

    @Test
    void cancelInterrupting_aTaskThatRuns_leavesTheThreadClean() throws Exception {
        PriorityExecutor executor = PriorityExecutor.over(pool, 1);
        CountDownLatch runs = new CountDownLatch(1);
        AtomicReference<Thread> thread = new AtomicReference<>();
        Future<?> future = executor.submit(() -> {
            thread.set(Thread.currentThread());
            runs.countDown();
            while (!Thread.currentThread().isInterrupted()) Thread.onSpinWait();
        });
        assertTrue(runs.await(120, TimeUnit.SECONDS));
        assertTrue(future.cancel(true));
        assertFalse(
                executor.submit(() -> Thread.currentThread().isInterrupted()).get(120, TimeUnit.SECONDS));
    }

    @Test
    void pool_thatRejects_losesNothing() {
        pool.shutdown();
        PriorityExecutor executor = PriorityExecutor.over(pool, 1);
        assertEquals(42, await(CompletableFuture.supplyAsync(() -> 42, executor)));
    }

    @Test
    void metrics_areThoseOfTheDispatcherWithAllItsLevels() {
        normal.execute(() -> {});
        normal.level(Priority.HIGH).execute(() -> {});
        assertEquals(1, normal.metrics().get(Priority.HIGH).getQueued());
        assertEquals(
                1, normal.level(Priority.LOW).metrics().get(Priority.NORMAL).getQueued());
        steps.runAll();
        assertEquals(0, normal.metrics().getWorkers());
        assertEquals(1, normal.metrics().get(Priority.HIGH).getPicked());
    }

    @Test
    void toString_tellsLevelLifeAndDispatcher() {
        PriorityExecutor low = normal.level(Priority.LOW);
        low.execute(() -> {});
        String dispatcher = normal.kotlin().toString();
        assertEquals("PriorityExecutor (LOW, unended = 1, on " + dispatcher + ")", low.toString());
        low.shutdown();
        assertTrue(low.toString().contains("shut down, unended = 1"), low.toString());
        low.shutdownNow();
        assertTrue(low.toString().contains("terminated, unended = 0"), low.toString());
    }
}
