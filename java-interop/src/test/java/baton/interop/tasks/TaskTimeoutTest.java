package baton.interop.tasks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.BatonClock;
import baton.Priority;
import baton.interop.AsyncTaskScheduler;
import baton.interop.Futures;
import baton.interop.TaskOptions;
import baton.interop.blocking.BlockedCall;
import baton.scheduler.TaskDeadlineException;
import baton.scheduler.TaskTimeoutException;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
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
    /** Its timers pass by {@link #advance}. */
    private static final class ManualClock implements BatonClock {
        private final List<Runnable> timers = new ArrayList<>();

        @Override
        public Instant instant() {
            return Instant.EPOCH;
        }

        @Override
        public long nanoTime() {
            return 0;
        }

        @Override
        public AutoCloseable schedule(Duration delay, Runnable task) {
            timers.add(task);
            return () -> timers.remove(task);
        }

        void advance() {
            List.copyOf(timers).forEach(Runnable::run);
        }
    }

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
        clock.advance();
        assertEquals(
                "ScheduledTask of TaskScheduler has not ended within PT3S",
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
            assertEquals("ScheduledTask of TaskScheduler has not ended within PT0.001S", failure.getMessage());
            assertEquals(returns ? 0 : 1, failure.getSuppressed().length);
        }
        assertTrue(ends(real).get(1) >= 2);
        assertEquals(0L, ends(real).get(5));
        assertEquals(7, real.blocking().call(brief.withTimeout(Duration.ofMinutes(2)), () -> 7));
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
