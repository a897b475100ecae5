package baton.interop.tasks;

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
import baton.scheduler.TaskDeadlineException;
import baton.scheduler.TaskTimeoutException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

/** Tasks whose timeout passes end as those of Kotlin do: failed if they have begun, else expired. */
class TaskTimeoutTest {
    private final ManualClock clock = new ManualClock();
    private final AsyncTaskScheduler scheduler =
            AsyncTaskScheduler.builder(1).executor(Runnable::run).clock(clock).build();
    private final TaskOptions limited = TaskOptions.of(Priority.NORMAL).withTimeout(Duration.ofSeconds(3));

    /** Done, failed, cancelled, expired, withdrawn, running. */
    private static List<Long> ends(AsyncTaskScheduler scheduler) {
        var level = scheduler.metrics().get(Priority.NORMAL);
        return List.of(
                level.getDone(),
                level.getFailed(),
                level.getCancelled(),
                level.getExpired(),
                level.getWithdrawn(),
                (long) level.getRunning());
    }

    private static TaskTimeoutException timeoutOf(CompletableFuture<?> future) {
        assertTrue(future.isDone());
        return assertInstanceOf(TaskTimeoutException.class, Futures.failure(future));
    }

    @Test
    void stage_thatIsCancelledByTheTimeout_hasFailed() {
        CompletableFuture<Integer> stage = new CompletableFuture<>();
        CompletableFuture<Integer> future = scheduler.schedule(limited, () -> stage);
        clock.nanos = 1_000_000_000;
        clock.advance();
        assertEquals(
                "ScheduledTask of priority NORMAL has not ended within 3s, of which it ran for 1s: "
                        + "TaskScheduler (maxConcurrency = 1, running = 1, queued = 0, waiting = 0)",
                timeoutOf(future).getMessage());
        assertTrue(stage.isCancelled());
        assertEquals(List.of(0L, 1L, 0L, 0L, 0L, 0L), ends(scheduler));
    }

    /** It was counted as done. */
    @Test
    void work_thatReturnsAfterTheTimeout_hasFailed_andKeepsItsSlotUntilThen() {
        List<Object> during = new ArrayList<>();
        CompletableFuture<Integer> stage = new CompletableFuture<>() {
            @Override
            public boolean cancel(boolean mayInterruptIfRunning) {
                return false;
            }
        };
        CompletableFuture<Integer> ofStage = scheduler.schedule(limited, () -> stage);
        clock.advance();
        timeoutOf(ofStage);
        assertEquals(List.of(0L, 0L, 0L, 0L, 0L, 1L), ends(scheduler));
        stage.complete(5);
        assertEquals(List.of(0L, 1L, 0L, 0L, 0L, 0L), ends(scheduler));
        CompletableFuture<Integer> ofCallable = scheduler.schedule(limited, (Callable<Integer>) () -> {
            clock.advance();
            during.addAll(ends(scheduler));
            return 5;
        });
        timeoutOf(ofCallable);
        assertEquals(List.of(0L, 1L, 0L, 0L, 0L, 1L), during);
        assertEquals(List.of(0L, 2L, 0L, 0L, 0L, 0L), ends(scheduler));
    }

    @Test
    void work_thatFailsAfterTheTimeout_isSuppressedInIt() {
        IOException failure = new IOException("clean up");
        CompletableFuture<Integer> future = scheduler.schedule(limited, (Callable<Integer>) () -> {
            clock.advance();
            throw failure;
        });
        assertSame(failure, timeoutOf(future).getSuppressed()[0]);
        assertEquals(List.of(0L, 1L, 0L, 0L, 0L, 0L), ends(scheduler));
    }

    /** It was counted as withdrawn. */
    @Test
    void task_thatWaitsTooLong_hasExpired() {
        CompletableFuture<Integer> stage = new CompletableFuture<>();
        CompletableFuture<Integer> first = scheduler.schedule(Priority.NORMAL, () -> stage);
        CompletableFuture<Integer> waits = scheduler.schedule(limited.withDeadline(Duration.ofSeconds(9)), () -> stage);
        clock.advance();
        timeoutOf(waits);
        assertEquals(List.of(0L, 0L, 0L, 1L, 0L, 1L), ends(scheduler));
        assertTrue(stage.complete(1) && first.isDone());
        assertEquals(List.of(1L, 0L, 0L, 1L, 0L, 0L), ends(scheduler));
    }

    /** It was counted as cancelled. */
    @Test
    void commandThatItsExecutorDrops_failsInTime_andFreesItsSlot() {
        CompletableFuture<Integer> dropped = scheduler.schedule(limited.withExecutor(command -> {}), () -> 1);
        CompletableFuture<Integer> next = scheduler.schedule(Priority.NORMAL, () -> 2);
        assertFalse(next.isDone());
        clock.advance();
        timeoutOf(dropped);
        assertEquals(2, next.join());
        assertEquals(List.of(1L, 1L, 0L, 0L, 0L, 0L), ends(scheduler));
    }

    @Test
    void ends_beforeTheTimeout_areTheTasksOwn() {
        List<Callable<Integer>> actions = Arrays.asList(() -> 1, () -> {
            throw new IOException();
        });
        for (Callable<Integer> action : actions) {
            CompletableFuture<Integer> future = scheduler.schedule(limited, action);
            assertTrue(future.isDone());
        }
        CompletableFuture<Integer> cancelled = scheduler.schedule(limited, () -> new CompletableFuture<Integer>());
        cancelled.cancel(true);
        assertEquals(List.of(), clock.timers);
        assertEquals(List.of(1L, 1L, 1L, 0L, 0L, 0L), ends(scheduler));
    }

    private final AsyncTaskScheduler real =
            AsyncTaskScheduler.builder(1).executor(Runnable::run).build();
    private final TaskOptions brief = TaskOptions.of(Priority.NORMAL).withTimeout(Duration.ofMillis(1));

    @Test
    void call_thatRunsTooLong_isInterrupted_andFails_whateverItsTaskEndsWith() throws Exception {
        for (boolean returns : List.of(true, false)) {
            // On a slow machine the time may be over before the task begins.
            List<Object> interrupted = new ArrayList<>();
            TaskTimeoutException failure;
            do {
                failure = assertThrows(
                        TaskTimeoutException.class,
                        () -> real.blocking().call(brief, () -> {
                            try {
                                new CountDownLatch(1).await();
                            } catch (InterruptedException e) {
                                interrupted.add(e);
                                if (!returns) throw new IOException("clean up");
                            }
                            return 5;
                        }));
            } while (interrupted.isEmpty());
            assertFalse(Thread.currentThread().isInterrupted());
            assertTrue(failure.getMessage()
                    .startsWith("ScheduledTask of priority NORMAL has not ended within 1ms, of which it ran for "));
            assertEquals(returns ? 0 : 1, failure.getSuppressed().length);
        }
        assertTrue(ends(real).get(1) >= 2);
        assertEquals(0L, ends(real).get(5));
        assertEquals(7, real.blocking().call(brief.withTimeout(Duration.ofMinutes(2)), () -> 7));
    }

    @Test
    void stage_thatRunsForTooLong_hasFailed_andItsWaitDoesNotCount() {
        TaskOptions brief = TaskOptions.of(Priority.NORMAL).withRunTimeout(Duration.ofSeconds(3));
        List<CompletableFuture<Integer>> stages = List.of(new CompletableFuture<>(), new CompletableFuture<>());
        CompletableFuture<Integer> first = scheduler.schedule(brief, () -> stages.get(0));
        CompletableFuture<Integer> second = scheduler.schedule(brief.withKey("b"), () -> stages.get(1));
        assertEquals(1, clock.timers.size());
        clock.advance();
        assertEquals(
                "ScheduledTask of priority NORMAL has not ended within 3s of its start: "
                        + "TaskScheduler (maxConcurrency = 1, running = 1, queued = 1, waiting = 0)",
                timeoutOf(first).getMessage());
        assertTrue(stages.get(0).isCancelled());
        assertFalse(second.isDone());
        assertEquals(1, clock.timers.size());
        stages.get(1).complete(1);
        assertEquals(1, second.join());
        assertEquals(List.of(), clock.timers);
        assertEquals(List.of(1L, 1L, 0L, 0L, 0L, 0L), ends(scheduler));
    }

    @Test
    void limits_together_theFirstToPassCounts() {
        TaskOptions both = limited.withRunTimeout(Duration.ofSeconds(1));
        CompletableFuture<Integer> task = scheduler.schedule(both, () -> new CompletableFuture<Integer>());
        assertEquals(2, clock.timers.size());
        clock.timers.get(1).run();
        assertTrue(timeoutOf(task).getMessage().contains("within 1s of its start"));
        assertEquals(List.of(), clock.timers);
    }

    @Test
    void call_thatRunsForTooLong_isInterrupted() throws Exception {
        TaskOptions brief = TaskOptions.of(Priority.NORMAL).withRunTimeout(Duration.ofMillis(1));
        TaskTimeoutException failure = assertThrows(
                TaskTimeoutException.class,
                () -> real.blocking().call(brief, () -> {
                    new CountDownLatch(1).await();
                    return 5;
                }));
        assertInstanceOf(InterruptedException.class, failure.getSuppressed()[0]);
        assertEquals(7, real.blocking().call(brief.withRunTimeout(Duration.ofMinutes(2)), () -> 7));
        assertEquals(0L, ends(real).get(5));
    }

    @Test
    void options_withATimeoutThatIsNotPositive_areRefused() {
        TaskOptions options = TaskOptions.of(Priority.NORMAL);
        assertThrows(IllegalArgumentException.class, () -> options.withTimeout(Duration.ZERO));
        assertEquals(
                "runTimeout = PT0S, must be positive",
                assertThrows(IllegalArgumentException.class, () -> options.withRunTimeout(Duration.ZERO))
                        .getMessage());
    }

    @Test
    void call_withOptions_waitsUntilItsDeadlineOrTimeout_andIsCancelledByItsKey() throws Exception {
        CompletableFuture<Integer> stage = new CompletableFuture<>();
        CompletableFuture<Integer> first = real.schedule(Priority.NORMAL, () -> stage);
        TaskOptions late = TaskOptions.of(Priority.NORMAL).withDeadline(Duration.ofMillis(1));
        assertThrows(TaskTimeoutException.class, () -> real.blocking().call(brief, () -> 1));
        assertThrows(TaskDeadlineException.class, () -> real.blocking().call(late, () -> 1));
        assertThrows(
                TaskDeadlineException.class, () -> real.blocking().call(late.withDeadline(Duration.ZERO), () -> 1));
        BlockedCall<Integer> keyed = BlockedCall.parked(
                () -> real.blocking().call(TaskOptions.of(Priority.NORMAL).withKey("a"), () -> 1));
        assertEquals(1, real.cancel("a"));
        ExecutionException ended = assertThrows(ExecutionException.class, keyed::result);
        assertInstanceOf(CancellationException.class, ended.getCause());
        assertTrue(stage.complete(1) && first.isDone());
        assertEquals(List.of(1L, 0L, 0L, 3L, 1L, 0L), ends(real));
    }

    @Test
    void call_withAnExecutor_orWithATimeoutOfAClockThatNoThreadCanWaitFor_isRefused() {
        TaskOptions elsewhere = limited.withExecutor(Runnable::run);
        assertEquals(
                "executor = " + elsewhere.executor() + ", must be null: the task runs on the calling thread",
                assertThrows(
                                IllegalArgumentException.class,
                                () -> real.blocking().call(elsewhere, () -> 1))
                        .getMessage());
        assertThrows(IllegalStateException.class, () -> scheduler.blocking().call(limited, () -> 1));
        assertEquals(List.of(0L, 0L, 0L, 0L, 0L, 0L), ends(scheduler));
    }
}
