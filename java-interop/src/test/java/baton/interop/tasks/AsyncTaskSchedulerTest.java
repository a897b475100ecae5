package baton.interop.tasks;

import static baton.interop.Futures.await;
import static baton.interop.Futures.failure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.Priority;
import baton.interop.AsyncTaskScheduler;
import baton.interop.Futures;
import baton.interop.TaskOptions;
import baton.interop.blocking.BlockedCall;
import baton.scheduler.SchedulerClosedException;
import baton.scheduler.TaskSchedulerMetrics;
import baton.scheduler.TaskTimeoutException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class AsyncTaskSchedulerTest extends SchedulerFixture {
    private void assertCounts(int queued, int running) {
        assertEquals(
                List.of(queued, running),
                List.of(scheduler.metrics().getQueued(), scheduler.metrics().getRunning()));
    }

    private long total(ToLongFunction<TaskSchedulerMetrics.OfLevel> number) {
        return Stream.of(Priority.values())
                .map(scheduler.metrics()::get)
                .mapToLong(number)
                .sum();
    }

    @Test
    void schedule_callable_runsOnItsExecutorAndReturnsItsValue() {
        Futures.Steps steps = new Futures.Steps();
        TaskOptions onSteps = TaskOptions.of(Priority.NORMAL).withExecutor(steps);
        CompletableFuture<Integer> value = scheduler.schedule(onSteps, () -> 42);
        CompletableFuture<Integer> failed = scheduler.schedule(onSteps, (Callable<Integer>) () -> {
            throw new IOException("broken");
        });
        assertEquals(1, steps.size());
        steps.runAll();
        assertEquals(42, value.join());
        assertEquals(
                "broken", assertInstanceOf(IOException.class, failure(failed)).getMessage());
        assertCounts(0, 0);
    }

    @Test
    void cancel_whileItRuns_cancelsTheStageAndKeepsThePlaceUntilItHasEnded() {
        CompletableFuture<Void> cleaned = new CompletableFuture<>();
        CompletableFuture<Object> source = new CompletableFuture<>();
        CompletableFuture<Object> running = scheduler.schedule(Priority.NORMAL, () -> new CompletableFuture<Object>() {
            @Override
            public boolean cancel(boolean mayInterruptIfRunning) {
                cleaned.complete(null);
                return source.cancel(mayInterruptIfRunning);
            }
        });
        CompletableFuture<Object> next = add(Priority.NORMAL, "next");
        assertTrue(running.cancel(true));
        assertTrue(cleaned.isDone() && source.isCancelled());
        assertEquals(List.of(), begun);
        assertCounts(1, 1);
        assertFalse(next.isDone());
    }

    @Test
    void supplier_thatThrowsOrAnswersNull_failsItsFutureAndFreesThePlace() {
        CompletableFuture<Object> thrown = scheduler.schedule(Priority.NORMAL, () -> {
            throw new IllegalArgumentException("broken");
        });
        assertEquals(
                "broken",
                assertInstanceOf(IllegalArgumentException.class, failure(thrown))
                        .getMessage());
        Supplier<CompletionStage<Object>> nothing = () -> null;
        assertInstanceOf(NullPointerException.class, failure(scheduler.schedule(Priority.NORMAL, nothing)));
        CompletableFuture<Object> rejected =
                scheduler.schedule(TaskOptions.of(Priority.NORMAL).withExecutor(Futures.REJECTING), () -> 1);
        assertInstanceOf(RejectedExecutionException.class, failure(rejected));
        assertCounts(0, 0);
        assertEquals(3, total(TaskSchedulerMetrics.OfLevel::getFailed));
    }

    @Test
    void awaitIdle_waitsForAllTasks_andClosesNothing() throws Exception {
        assertTrue(scheduler.awaitIdle().isDone());
        scheduler.blocking().awaitIdle();
        var first = add(Priority.NORMAL, "a");
        var second = add(Priority.NORMAL, "b");
        CompletableFuture<Void> idle = scheduler.awaitIdle();
        assertTrue(scheduler.awaitIdle().cancel(true));
        assertFalse(scheduler.blocking().awaitIdle(Duration.ZERO));
        BlockedCall<Boolean> blocked =
                BlockedCall.parked(() -> scheduler.blocking().awaitIdle(Duration.ofMinutes(2)));
        end("a");
        assertFalse(idle.isDone());
        end("b");
        assertTrue(idle.isDone());
        assertTrue(blocked.result());
        assertTrue(first.isDone() && second.isDone());
        var unused = add(Priority.NORMAL, "c");
        assertEquals(List.of("a", "b", "c"), begun);
    }

    @Test
    void clear_cancelsWhatWaits_andNothingElse() {
        CompletableFuture<Object> running = add(Priority.NORMAL, "running");
        CompletableFuture<Object> waits = add(Priority.NORMAL, "waits");
        Future<?> command = scheduler.executor(Priority.LOW).submit(() -> begun.add("command"));
        assertEquals(2, scheduler.clear());
        assertTrue(waits.isCancelled() && command.isCancelled());
        end("running");
        assertEquals("running", running.join());
        var unused = add(Priority.NORMAL, "new");
        assertEquals(List.of("running", "new"), begun);
    }

    @Test
    void timeout_ofATaskThatWaits_andOfOneThatRuns_failsIt() {
        TaskOptions options = TaskOptions.of(Priority.NORMAL).withKey("page").withTimeout(Duration.ofMillis(1));
        var first = add(Priority.NORMAL, "first");
        CompletableFuture<Object> waits = scheduler.schedule(options, () -> CompletableFuture.completedFuture(1));
        TaskTimeoutException failure = assertInstanceOf(TaskTimeoutException.class, Futures.awaitFailure(waits));
        assertTrue(failure.getMessage()
                .startsWith("ScheduledTask 'page' of priority NORMAL has not ended within 1ms, and was not started: "));
        end("first");
        assertTrue(first.isDone());
        // On a slow machine the time may be over before the task begins.
        AtomicReference<CompletableFuture<Object>> stage = new AtomicReference<>();
        while (stage.get() == null) {
            CompletableFuture<Object> running = scheduler.schedule(options, () -> {
                stage.set(new CompletableFuture<>());
                return stage.get();
            });
            assertInstanceOf(TaskTimeoutException.class, Futures.awaitFailure(running));
        }
        assertThrows(CancellationException.class, () -> stage.get().get(2, TimeUnit.MINUTES));
        var unused = Futures.await(scheduler.awaitIdle());
        assertEquals(
                1,
                scheduler
                        .schedule(options.withTimeout(Duration.ofMinutes(2)), () -> 1)
                        .join());
        for (Duration refused : List.of(Duration.ZERO, Duration.ofNanos(-1)))
            assertEquals(
                    "timeout = " + refused + ", must be positive",
                    assertThrows(IllegalArgumentException.class, () -> options.withTimeout(refused))
                            .getMessage());
    }

    @Test
    void schedule_ofEachKindOfTask_givesItsValueOrItsException() {
        try (AsyncTaskScheduler two = AsyncTaskScheduler.create(2)) {
            assertEquals("x", Futures.await(two.schedule(Priority.HIGH, () -> "x")));
            assertEquals("y", Futures.await(two.schedule(Priority.HIGH, () -> CompletableFuture.completedFuture("y"))));
            assertEquals(
                    "z",
                    Futures.await(two.schedule(
                            TaskOptions.of(Priority.HIGH).withExecutor(Runnable::run),
                            () -> CompletableFuture.completedFuture("z"))));
            IOException failure = new IOException();
            assertSame(failure, Futures.awaitFailure(two.schedule(Priority.HIGH, (Callable<String>) () -> {
                throw failure;
            })));
            List<String> ran = new ArrayList<>();
            CompletableFuture<Void> run = two.schedule(Priority.LOW, () -> {
                ran.add("run");
            });
            Futures.await(run);
            Futures.await(two.schedule(Priority.LOW, ran::clear));
            assertEquals(List.of(), ran);
        }
    }

    /** An Error, because what a stage refuses by an exception is taken for a stage that cannot be cancelled. */
    @Test
    void cancelOfAKey_oneStageThrowsAnError_otherTasksAreCancelled() {
        scheduler.maxConcurrency(2);
        AssertionError hostile = new AssertionError("hostile");
        CompletableFuture<Object> first = scheduler.schedule(keyed(), () -> new CompletableFuture<>() {
            @Override
            public boolean cancel(boolean mayInterruptIfRunning) {
                throw hostile;
            }
        });
        CompletableFuture<Object> second = scheduler.schedule(keyed(), () -> new CompletableFuture<>());
        assertEquals(List.of(hostile), Futures.reportedBy(() -> assertEquals(2, scheduler.cancel("key"))));
        assertTrue(first.isCancelled() && second.isCancelled());
    }

    private static TaskOptions keyed() {
        return TaskOptions.of(Priority.NORMAL).withKey("key");
    }

    // ---- as an executor

    @Test
    void executor_countsTowardsTheBoundAndHonoursTheLevel() throws Exception {
        ExecutorService high = scheduler.executor(Priority.HIGH);
        add(Priority.NORMAL, "first");
        add(Priority.NORMAL, "second");
        Future<Boolean> command = high.submit(() -> begun.add("command"));
        assertFalse(command.isDone());
        end("first");
        assertEquals(List.of("first", "command", "second"), begun);
        assertTrue(command.get());
        high.shutdown();
        assertTrue(high.awaitTermination(0, TimeUnit.SECONDS));
    }

    @Test
    void executor_ofASchedulerThatIsClosed_refusesAndBlocksNoCaller() {
        ExecutorService executor = scheduler.executor(Priority.NORMAL);
        add(Priority.NORMAL, "first");
        Future<?> waits = executor.submit(() -> begun.add("never"));
        scheduler.closeNow();
        assertTrue(waits.isCancelled());
        var e = assertThrows(RejectedExecutionException.class, () -> executor.execute(() -> begun.add("late")));
        assertInstanceOf(SchedulerClosedException.class, e.getCause());
        executor.shutdown();
        assertTrue(executor.isTerminated());
    }

    @Test
    void executor_ofACommandThatThrows_reportsAndGoesOn() {
        Futures.reportingTo(e -> begun.add(e.getMessage()), () -> {
            scheduler.executor(Priority.NORMAL).execute(() -> {
                throw new IllegalStateException("broken");
            });
            add(Priority.NORMAL, "next");
            assertEquals(List.of("broken", "next"), begun);
        });
    }

    @Test
    void create_runsOnTheCommonPool() {
        try (AsyncTaskScheduler plain = AsyncTaskScheduler.create(3)) {
            assertEquals(42, await(plain.schedule(Priority.LOW, () -> CompletableFuture.completedFuture(42))));
            assertTrue(plain.toString().startsWith("AsyncTaskScheduler (maxConcurrency = 3"), plain.toString());
        }
    }

    @Test
    void executor_ofTheSameScheduler_isRefusedForItsTasks() {
        AsyncTaskScheduler own = AsyncTaskScheduler.create(1, "uplink");
        TaskOptions options = TaskOptions.of(Priority.HIGH).withExecutor(own.executor(Priority.NORMAL));
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> own.schedule(options, () -> 1));
        assertTrue(e.getMessage().contains("'uplink'"), e.getMessage());
        assertThrows(
                IllegalArgumentException.class,
                () -> AsyncTaskScheduler.of(
                        own.kotlin(), AsyncTaskScheduler.of(own.kotlin()).executor(Priority.LOW)));
        assertEquals(1, await(AsyncTaskScheduler.create(1).schedule(options, () -> 1)));
        assertEquals(0, own.metrics().getQueued());
    }
}
