package baton.interop.tasks;

import static baton.interop.Futures.await;
import static baton.interop.Futures.awaitFailure;
import static baton.interop.Futures.failure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.Priority;
import baton.interop.AsyncTaskScheduler;
import baton.interop.NoTimerThread;
import baton.interop.ScheduledTaskFuture;
import baton.interop.TaskOptions;
import baton.scheduler.OnFullQueue;
import baton.scheduler.TaskDeadlineException;
import baton.scheduler.TaskState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
class ScheduledTaskFutureTest {
    private final AsyncTaskScheduler scheduler =
            AsyncTaskScheduler.builder(1).executor(Runnable::run).build();
    private final CompletableFuture<String> gate = new CompletableFuture<>();
    private final ScheduledTaskFuture<String> running = scheduler.schedule(Priority.NORMAL, () -> gate);
    private final List<String> begun = new ArrayList<>();

    private TaskOptions late(Duration deadline) {
        return TaskOptions.of(Priority.HIGH).withKey("page").withDeadline(deadline);
    }

    @Test
    void state_fromQueuedToDone_isThatOfTheTask() {
        ScheduledTaskFuture<Boolean> waits = scheduler.schedule(Priority.LOW, () -> begun.add("low"));
        assertEquals(TaskState.RUNNING, running.state());
        assertEquals(TaskState.QUEUED, waits.state());
        gate.complete("done");
        assertEquals(TaskState.DONE, running.state());
        assertEquals(TaskState.DONE, waits.state());
        ScheduledTaskFuture<String> cancelled = scheduler.schedule(Priority.LOW, () -> new CompletableFuture<String>());
        cancelled.cancel(true);
        assertEquals(TaskState.DONE, cancelled.state());
    }

    @Test
    void priority_ofAQueuedTask_movesIt() {
        ScheduledTaskFuture<Boolean> first = scheduler.schedule(Priority.LOW, () -> begun.add("first"));
        ScheduledTaskFuture<Boolean> second = scheduler.schedule(Priority.LOW, () -> begun.add("second"));
        second.priority(Priority.CRITICAL);
        assertEquals(Priority.LOW, first.priority());
        assertEquals(Priority.CRITICAL, second.priority());
        running.priority(Priority.IDLE);
        assertEquals(Priority.IDLE, running.priority());
        assertThrows(NullPointerException.class, () -> first.priority(null));
        gate.complete("done");
        assertEquals(List.of("second", "first"), begun);
        second.priority(Priority.LOW);
        assertEquals(Priority.LOW, second.priority());
    }

    @Test
    void deadline_passedAlready_displacesNoOtherTask() {
        AsyncTaskScheduler full = AsyncTaskScheduler.builder(1)
                .executor(Runnable::run)
                .capacity(1, OnFullQueue.DROP_LOWEST)
                .build();
        CompletableFuture<String> slot = new CompletableFuture<>();
        var unused = full.schedule(Priority.NORMAL, () -> slot);
        ScheduledTaskFuture<Boolean> low = full.schedule(Priority.LOW, () -> begun.add("low"));
        for (Duration deadline : List.of(Duration.ZERO, Duration.ofSeconds(-1))) {
            assertInstanceOf(
                    TaskDeadlineException.class, awaitFailure(full.schedule(late(deadline), () -> begun.add("late"))));
        }
        slot.complete("done");
        await(low);
        assertEquals(List.of("low"), begun);
    }

    @Test
    void deadline_whoseTimerCannotBeSet_withdrawsTheTask() {
        NoTimerThread.during(() -> assertThrows(
                OutOfMemoryError.class, () -> scheduler.schedule(late(Duration.ofHours(1)), () -> begun.add("never"))));
        assertEquals(0, scheduler.metrics().getQueued());
        assertEquals(0, scheduler.cancel("page"));
        gate.complete("done");
        await(scheduler.drain());
        assertEquals(List.of(), begun);
    }

    @Test
    void deadline_passedInTheQueue_failsTheTask() {
        for (Duration deadline :
                List.of(Duration.ofSeconds(Long.MIN_VALUE), Duration.ofNanos(-1), Duration.ZERO, Duration.ofNanos(1))) {
            ScheduledTaskFuture<Boolean> waits = scheduler.schedule(late(deadline), () -> begun.add("never"));
            String message = assertInstanceOf(TaskDeadlineException.class, awaitFailure(waits))
                    .getMessage();
            assertTrue(message.startsWith("ScheduledTask 'page' of priority HIGH was not started within "), message);
        }
        gate.complete("done");
        assertEquals(List.of(), begun);
        assertEquals(0, scheduler.metrics().getQueued());
        assertEquals(true, await(scheduler.schedule(late(Duration.ZERO), () -> begun.add("at once"))));
    }

    @Test
    void deadline_notPassed_letsTheTaskRun() {
        ScheduledTaskFuture<Boolean> waits =
                scheduler.schedule(late(Duration.ofSeconds(Long.MAX_VALUE)), () -> begun.add("in time"));
        assertFalse(waits.isDone());
        gate.complete("done");
        assertEquals(true, await(waits));
        assertEquals(Optional.of("page"), waits.key());
        assertEquals(Optional.empty(), running.key());
    }

    /** The dependents of a task whose deadline has passed may block. */
    @Test
    void deadline_passed_runsDependentsOnACallbackThread() {
        AtomicReference<String> thread = new AtomicReference<>("");
        ScheduledTaskFuture<Boolean> waits = scheduler.schedule(late(Duration.ofMillis(20)), () -> begun.add("never"));
        CompletableFuture<Void> dependent = waits.handle((v, e) -> v)
                .thenRun(() -> thread.set(Thread.currentThread().getName()));
        await(dependent);
        assertTrue(waits.isCompletedExceptionally());
        assertTrue(thread.get().startsWith("baton-callbacks-")
                || thread.get().equals(Thread.currentThread().getName()));
    }

    @Test
    void close_taskWithAKey_isNamedInTheFailure() {
        ScheduledTaskFuture<Void> waits =
                scheduler.schedule(TaskOptions.of(Priority.LOW).withKey("page"), begun::clear);
        scheduler.closeNow();
        String message = failure(waits).getMessage();
        assertTrue(message.startsWith("ScheduledTask 'page' of priority LOW was not started"), message);
    }

    @Test
    void cancel_byKey_endsQueuedAndRunningTasksWithIt() {
        TaskOptions options = TaskOptions.of(Priority.LOW).withKey("page");
        CompletableFuture<String> stage = new CompletableFuture<>();
        scheduler.maxConcurrency(2);
        ScheduledTaskFuture<String> runs = scheduler.schedule(options, () -> stage);
        ScheduledTaskFuture<Boolean> waits = scheduler.schedule(options, () -> begun.add("never"));
        ScheduledTaskFuture<Boolean> other = scheduler.schedule(options.withKey("other"), () -> begun.add("other"));
        assertEquals(0, scheduler.cancel("none"));
        assertEquals(2, scheduler.cancel("page"));
        assertTrue(runs.isCancelled() && waits.isCancelled() && stage.isCancelled());
        assertEquals(true, await(other));
        assertEquals(0, scheduler.cancel("page"));
        assertEquals(0, scheduler.cancel("other"));
        assertEquals(List.of("other"), begun);
        assertEquals(
                "1 0",
                scheduler.metrics().getRunning() + " " + scheduler.metrics().getQueued());
    }

    @Test
    void options_ofAnyKindOfTask_runIt() {
        gate.complete("done");
        TaskOptions options = TaskOptions.of(Priority.LOW).withKey(1);
        assertEquals("x", await(scheduler.schedule(options, () -> "x")));
        assertEquals("y", await(scheduler.schedule(options, () -> CompletableFuture.completedFuture("y"))));
        await(scheduler.schedule(options, begun::clear));
        assertEquals(
                "TaskOptions[priority=LOW, key=1, deadline=null, timeout=null, runTimeout=null, executor=null]",
                options.toString());
    }
}
