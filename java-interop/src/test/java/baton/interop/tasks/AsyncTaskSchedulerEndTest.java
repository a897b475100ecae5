package baton.interop.tasks;

import static baton.interop.Futures.failure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.Priority;
import baton.interop.AsyncTaskScheduler;
import baton.interop.Futures;
import baton.interop.blocking.BlockedCall;
import baton.scheduler.SchedulerClosedException;
import baton.scheduler.TaskScheduler;
import baton.scheduler.TaskSchedulerConfig;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import kotlinx.coroutines.CoroutineScope;
import kotlinx.coroutines.CoroutineScopeKt;
import kotlinx.coroutines.Dispatchers;
import kotlinx.coroutines.Job;
import org.junit.jupiter.api.Test;

/** The ends of a scheduler: drain, close, and the cancellation of its scope. */
class AsyncTaskSchedulerEndTest extends SchedulerFixture {
    @Test
    void drain_waitsForAllAndTakesNoMore() {
        add(Priority.NORMAL, "a");
        add(Priority.NORMAL, "b");
        CompletableFuture<Void> drained = scheduler.drain();
        assertTrue(scheduler.drain().cancel(true));
        assertInstanceOf(SchedulerClosedException.class, failure(add(Priority.NORMAL, "late")));
        end("a");
        assertFalse(drained.isDone());
        end("b");
        assertTrue(drained.isDone() && !drained.isCompletedExceptionally());
    }

    @Test
    void close_waitsUntilAllHaveEnded() throws Exception {
        CompletableFuture<Object> running = add(Priority.NORMAL, "running");
        CompletableFuture<Object> waits = add(Priority.NORMAL, "waits");
        BlockedCall<?> closing = closing(scheduler);
        assertInstanceOf(SchedulerClosedException.class, failure(add(Priority.NORMAL, "late")));
        end("running");
        assertEquals("running", running.join());
        closing.awaitParked();
        end("waits");
        assertEquals(false, closing.result());
        assertEquals("waits", waits.join());
        scheduler.close();
    }

    @Test
    void close_interrupted_dropsWhatWaitsAndWaitsForWhatRuns() throws Exception {
        CompletableFuture<Object> running = add(Priority.NORMAL, "running");
        CompletableFuture<Object> waits = add(Priority.NORMAL, "waits");
        BlockedCall<?> closing = closing(scheduler);
        closing.thread.interrupt();
        assertInstanceOf(SchedulerClosedException.class, Futures.awaitFailure(waits));
        closing.awaitParked();
        end("running");
        assertEquals(true, closing.result());
        assertEquals("running", running.join());
    }

    @Test
    void close_withATimeout_dropsWhatWaitsThen_andTellsWhetherAllHaveEnded() throws Exception {
        CompletableFuture<Object> running = add(Priority.NORMAL, "running");
        CompletableFuture<Object> waits = add(Priority.NORMAL, "waits");
        BlockedCall<Boolean> closing = BlockedCall.started(() -> scheduler.close(Duration.ofMillis(1)));
        assertFalse(closing.result());
        assertInstanceOf(SchedulerClosedException.class, failure(waits));
        assertFalse(running.isDone());
        BlockedCall<Boolean> again = BlockedCall.parked(() -> scheduler.close(Duration.ofMinutes(2)));
        end("running");
        assertTrue(again.result());
        assertTrue(scheduler.close(Duration.ZERO));
        assertEquals("running", running.join());
    }

    @Test
    void close_withATimeout_interrupted_dropsWhatWaits() throws Exception {
        var unused = add(Priority.NORMAL, "running");
        CompletableFuture<Object> waits = add(Priority.NORMAL, "waits");
        BlockedCall<Boolean> closing = BlockedCall.parked(() -> !scheduler.close(Duration.ofMinutes(2))
                && Thread.currentThread().isInterrupted());
        closing.thread.interrupt();
        assertTrue(closing.result());
        assertInstanceOf(SchedulerClosedException.class, failure(waits));
        end("running");
    }

    /** A thread that closes the scheduler; returns whether it is interrupted then. */
    private static BlockedCall<Boolean> closing(AsyncTaskScheduler scheduler) {
        return BlockedCall.parked(() -> {
            scheduler.close();
            return Thread.currentThread().isInterrupted();
        });
    }

    @Test
    void closeNow_failsWhatWaitsWithTheCause() {
        CompletableFuture<Object> running = add(Priority.NORMAL, "running");
        CompletableFuture<Object> waits = add(Priority.NORMAL, "waits");
        Throwable cause = new IllegalStateException("over");
        scheduler.closeNow(cause);
        scheduler.closeNow();
        assertSame(
                cause,
                assertInstanceOf(SchedulerClosedException.class, failure(waits)).getCause());
        assertSame(cause, failure(add(Priority.NORMAL, "late")).getCause());
        end("running");
        assertEquals("running", running.join());
        assertTrue(scheduler.drain().isDone());
    }

    @Test
    void scope_cancelled_cancelsWhatWaitsAndWhatRuns() {
        CoroutineScope scope = CoroutineScopeKt.CoroutineScope(Dispatchers.getDefault());
        AsyncTaskScheduler face =
                AsyncTaskScheduler.of(new TaskScheduler(scope, 1, null, new TaskSchedulerConfig()), Runnable::run);
        CompletableFuture<Object> stage = new CompletableFuture<>();
        CompletableFuture<Object> running = face.schedule(Priority.NORMAL, () -> stage);
        CompletableFuture<Object> waits = face.schedule(Priority.NORMAL, () -> stage);
        CoroutineScopeKt.cancel(scope, new CancellationException("over"));
        assertTrue(stage.isCancelled() && running.isCancelled() && waits.isCancelled());
        assertTrue(face.schedule(Priority.NORMAL, () -> stage).isCompletedExceptionally());
        assertEquals(0, face.metrics().getQueued() + face.metrics().getRunning());
    }

    @Test
    void scope_cancelled_waitsForAStageThatGoesOn() {
        CoroutineScope scope = CoroutineScopeKt.CoroutineScope(Dispatchers.getDefault());
        AsyncTaskScheduler face =
                AsyncTaskScheduler.of(new TaskScheduler(scope, 1, null, new TaskSchedulerConfig()), Runnable::run);
        CompletableFuture<Object> stage = new CompletableFuture<>();
        CompletableFuture<Object> task = face.schedule(Priority.NORMAL, () -> stage.minimalCompletionStage());
        CoroutineScopeKt.cancel(scope, new CancellationException("over"));
        Job job = Objects.requireNonNull(scope.getCoroutineContext().get(Job.Key));
        assertTrue(task.isCancelled() && !job.isCompleted());
        stage.complete("late");
        assertTrue(job.isCompleted());
    }

    @Test
    void closeNow_droppedCommandThrows_otherTasksAreRefused() {
        scheduler.pause();
        scheduler.executor(Priority.NORMAL).execute(new FutureTask<Object>(() -> "never") {
            @Override
            protected void done() {
                throw new IllegalStateException("hostile");
            }
        });
        CompletableFuture<Object> waits = scheduler.schedule(Priority.NORMAL, () -> new CompletableFuture<>());
        List<Throwable> reported = Futures.reportedBy(scheduler::closeNow);
        assertEquals(
                List.of("hostile"), reported.stream().map(Throwable::getMessage).toList());
        assertTrue(waits.isCompletedExceptionally());
    }
}
