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
import baton.scheduler.OnFullQueue;
import baton.scheduler.SchedulerClosedException;
import baton.scheduler.TaskRejectedException;
import baton.scheduler.TaskTimeoutException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** The listener gets each failure of a task once. */
class TaskFailureTest {
    private final List<Object> keys = new ArrayList<>();
    private final List<Throwable> failures = new ArrayList<>();
    private final ManualClock clock = new ManualClock();
    private final AsyncTaskScheduler scheduler = AsyncTaskScheduler.builder(1)
            .executor(Runnable::run)
            .clock(clock)
            .capacity(1, OnFullQueue.REJECT)
            .onFailure((key, failure) -> {
                keys.add(String.valueOf(key));
                failures.add(failure);
            })
            .build();
    private final TaskOptions options = TaskOptions.of(Priority.NORMAL);

    private static Callable<Object> failing(Exception failure) {
        return () -> {
            throw failure;
        };
    }

    @Test
    void failures_ofStagesAndCallables_reachTheListenerOnce() {
        IOException failure = new IOException("own");
        var unused = scheduler.schedule(options.withKey("stage"), () -> CompletableFuture.failedFuture(failure));
        var other = scheduler.schedule(options, failing(failure));
        assertThrows(
                IOException.class,
                () -> AsyncTaskScheduler.of(scheduler.kotlin(), Runnable::run)
                        .blocking()
                        .call(options.withKey("call"), failing(failure)));
        assertEquals(List.of("stage", "null", "call"), keys);
        assertEquals(List.of(failure, failure, failure), failures);
        assertTrue(other.isCompletedExceptionally());
    }

    @Test
    void timeouts_andRefusals_areFailures() {
        CompletableFuture<Object> stage = new CompletableFuture<>();
        var running = scheduler.schedule(options.withRunTimeout(Duration.ofSeconds(1)), () -> stage.copy());
        var queued = scheduler.schedule(options.withTimeout(Duration.ofSeconds(1)), () -> stage);
        var rejected = scheduler.schedule(options, () -> stage);
        assertSame(Futures.failure(rejected), assertInstanceOf(TaskRejectedException.class, failures.get(0)));
        clock.advance();
        assertEquals(List.of(Futures.failure(running), Futures.failure(queued)), failures.subList(1, 3));
        assertInstanceOf(TaskTimeoutException.class, failures.get(1));
        scheduler.closeNow();
        var closed = scheduler.schedule(options, () -> stage);
        assertSame(Futures.failure(closed), assertInstanceOf(SchedulerClosedException.class, failures.get(3)));
        assertEquals(4, failures.size());
    }

    @Test
    void cancellation_isNoFailure() {
        CompletableFuture<Object> stage = new CompletableFuture<>();
        var running = scheduler.schedule(options, () -> stage);
        var queued = scheduler.schedule(options, () -> stage);
        assertTrue(queued.cancel(true) && running.cancel(true));
        assertEquals(List.of(), failures);
    }

    @Test
    void failure_ofACancelledTask_thatGoesOn_reachesTheListener() {
        CompletableFuture<Object> stage = new CompletableFuture<>();
        var task = scheduler.schedule(options, () -> stage.minimalCompletionStage());
        assertTrue(task.cancel(true));
        stage.completeExceptionally(new IOException("clean up"));
        assertEquals("clean up", failures.get(0).getMessage());
        assertTrue(task.isCancelled());
    }

    @Test
    void listener_isCalledBeforeTheFutureIsDone_andBeforeTheEndOfAllTasks() {
        List<Object> seen = new ArrayList<>();
        List<CompletableFuture<?>> futures = new ArrayList<>();
        AsyncTaskScheduler[] own = new AsyncTaskScheduler[1];
        own[0] = AsyncTaskScheduler.builder(1)
                .executor(Runnable::run)
                .onFailure((key, failure) -> {
                    seen.add(own[0].metrics().getRunning());
                    futures.forEach(future -> seen.add(future.isDone()));
                })
                .build();
        own[0].pause();
        futures.add(own[0].schedule(options, failing(new IOException("own"))));
        futures.add(own[0].drain());
        own[0].resume();
        assertEquals(List.of(0, false, false), seen);
        assertTrue(futures.get(1).isDone());
    }

    @Test
    void listener_thatThrows_isReported_andTheFutureFails() {
        AsyncTaskScheduler own = AsyncTaskScheduler.builder(1)
                .executor(Runnable::run)
                .onFailure((key, failure) -> {
                    throw new IllegalStateException("listener");
                })
                .build();
        own.pause();
        var task = own.schedule(options, failing(new IOException("own")));
        List<Throwable> reported = Futures.reportedBy(own::resume);
        assertEquals("listener", reported.get(0).getMessage());
        assertEquals("own", Futures.failure(task).getMessage());
        assertFalse(own.awaitIdle().isCompletedExceptionally());
        own.close();
    }
}
