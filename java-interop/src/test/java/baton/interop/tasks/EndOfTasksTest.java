package baton.interop.tasks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.Priority;
import baton.interop.AsyncTaskScheduler;
import baton.interop.AsyncTaskSchedulerBuilder;
import baton.interop.Futures;
import baton.interop.TaskOptions;
import baton.scheduler.OnFullQueue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** The end of all tasks includes the ends of their futures; these come after the end of the tasks' slots. */
class EndOfTasksTest {
    private static final TaskOptions NORMAL = TaskOptions.of(Priority.NORMAL);

    /** One task, and what of it is true when the waits for the end of all tasks are over. */
    private static final class World {
        final AsyncTaskScheduler scheduler;
        final CompletableFuture<Object> stage = new CompletableFuture<>();
        final List<Object> seen = new ArrayList<>();
        private CompletableFuture<?> task = new CompletableFuture<>();

        World(AsyncTaskSchedulerBuilder builder) {
            scheduler = builder.executor(Runnable::run).build();
        }

        World() {
            this(AsyncTaskScheduler.builder(1));
        }

        CompletableFuture<?> add(TaskOptions options) {
            task = scheduler.schedule(options, () -> stage);
            return task;
        }

        /** Ends the task, which has {@code dependents}. */
        void end(int dependents, Runnable action) {
            scheduler.awaitIdle().thenRun(() -> seen.add(task.isDone()));
            for (int i = 0; i < dependents; i++)
                task.whenComplete((value, e) -> seen.add(scheduler.metrics().getRunning()));
            scheduler.drain().thenRun(() -> seen.add(task.isDone()));
            action.run();
        }
    }

    /** They were not done. */
    @Test
    void waits_endWhenTheFutureIsDone_howeverTheTaskEnds() {
        List<Consumer<World>> ends = List.of(
                world -> world.stage.complete(1),
                world -> world.stage.completeExceptionally(new IllegalStateException()),
                world -> world.task.cancel(true),
                world -> world.scheduler.cancel("key"));
        for (int dependents = 0; dependents < 3; dependents++) {
            for (Consumer<World> end : ends) {
                World world = new World();
                world.add(NORMAL.withKey("key"));
                world.end(dependents, () -> end.accept(world));
                // A cancelled future is done before its stage has ended.
                int running = world.task.isCancelled() ? 1 : 0;
                List<Object> expected = new ArrayList<>(List.of(true, true));
                for (int i = 0; i < dependents; i++) expected.add(running);
                assertEquals(expected, sorted(world.seen));
            }
        }
    }

    @Test
    void waits_endWhenTheFutureIsDone_ofATaskThatNeverBegins() {
        List<Consumer<World>> ends = List.of(
                world -> world.task.cancel(true),
                world -> world.scheduler.clear(),
                world -> world.scheduler.closeNow(),
                world -> world.scheduler.cancel("key"));
        for (Consumer<World> end : ends) {
            World world = new World();
            world.scheduler.pause();
            world.add(NORMAL.withKey("key"));
            world.end(1, () -> end.accept(world));
            assertEquals(List.of(true, true, 0), sorted(world.seen));
        }
    }

    @Test
    void waits_endWhenTheFutureIsDone_ofATaskThatIsShed() {
        World world = new World(AsyncTaskScheduler.builder(1).capacity(1, OnFullQueue.DROP_LOWEST));
        world.scheduler.pause();
        CompletableFuture<?> shed = world.add(TaskOptions.of(Priority.LOW));
        CompletableFuture<Void> idle = world.scheduler.awaitIdle();
        CompletableFuture<?> urgent = world.scheduler.schedule(Priority.HIGH, () -> 1);
        assertTrue(shed.isCompletedExceptionally() && !idle.isDone());
        world.scheduler.resume();
        assertTrue(urgent.isDone() && idle.isDone());
    }

    @Test
    void waits_endWhenTheFutureIsDone_ofATaskWhoseTimeoutPasses() {
        ManualClock clock = new ManualClock();
        for (boolean begins : List.of(true, false)) {
            World world = new World(AsyncTaskScheduler.builder(1).clock(clock));
            if (!begins) world.scheduler.pause();
            world.add(NORMAL.withTimeout(Duration.ofSeconds(3)));
            world.end(1, clock::advance);
            // The future is done before the stage has ended.
            assertEquals(List.of(true, true, begins ? 1 : 0), sorted(world.seen));
        }
    }

    @Test
    void waits_endWhenTheFutureIsDone_ofATaskThatItsExecutorRejects() {
        World world = new World();
        world.scheduler.pause();
        world.add(NORMAL.withExecutor(command -> {
            throw new RejectedExecutionException("full");
        }));
        world.end(1, world.scheduler::resume);
        assertEquals(List.of(true, true, 0), sorted(world.seen));
    }

    private static List<Object> sorted(List<Object> seen) {
        seen.sort((one, other) -> Boolean.compare(one instanceof Integer, other instanceof Integer));
        return seen;
    }

    @Test
    void stage_thatGoesOnAfterACancel_isWaitedFor() {
        World world = new World();
        CompletableFuture<Object> stage = new CompletableFuture<>();
        CompletableFuture<Object> task = world.scheduler.schedule(NORMAL, () -> stage.minimalCompletionStage());
        CompletableFuture<Void> idle = world.scheduler.awaitIdle();
        task.cancel(true);
        assertFalse(idle.isDone());
        stage.complete(1);
        assertTrue(idle.isDone());
    }

    @Test
    void dependent_thatWaitsForTheEndOfAllTasks_doesNotWaitForItself() throws Exception {
        List<Consumer<AsyncTaskScheduler>> waits = List.of(
                AsyncTaskScheduler::close,
                scheduler -> assertTrue(scheduler.close(Duration.ofMinutes(2))),
                scheduler -> Futures.await(scheduler.awaitIdle()),
                scheduler -> Futures.await(scheduler.drain()),
                scheduler -> {
                    try {
                        scheduler.blocking().awaitIdle();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                });
        for (Consumer<AsyncTaskScheduler> wait : waits) {
            World world = new World();
            CompletableFuture<?> task = world.add(NORMAL);
            CompletableFuture<Void> drained = world.scheduler.awaitIdle();
            CompletableFuture<Void> dependent = task.thenRun(() -> {
                assertTrue(drained.isDone());
                wait.accept(world.scheduler);
            });
            assertTrue(world.stage.complete(1));
            Futures.await(dependent);
        }
    }

    /** Each completes on the stack of the one before, or, where that is too deep, on a callback thread. */
    @Test
    void waits_endWhenTheFuturesAreDone_atADeepStack() {
        for (int round = 0; round < 20; round++) {
            AsyncTaskScheduler scheduler =
                    AsyncTaskScheduler.builder(1).executor(Runnable::run).build();
            scheduler.pause();
            List<CompletableFuture<?>> tasks = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                CompletableFuture<Integer> task = scheduler.schedule(Priority.NORMAL, () -> 1);
                if (i % 2 == 0) task.thenRun(() -> {});
                tasks.add(task);
            }
            scheduler.resume();
            scheduler.close();
            assertEquals(
                    List.of(), tasks.stream().filter(task -> !task.isDone()).toList());
        }
    }

    @Test
    void submit_whoseClockHasNoTimer_throws_andNoWaitHangs() {
        World world = new World(AsyncTaskScheduler.builder(1).clock(new ManualClock() {
            @Override
            public AutoCloseable schedule(Duration delay, Runnable task) {
                throw new IllegalStateException("no timer");
            }
        }));
        world.scheduler.pause();
        for (TaskOptions options :
                List.of(NORMAL.withDeadline(Duration.ofSeconds(3)), NORMAL.withTimeout(Duration.ofSeconds(3))))
            assertInstanceOf(IllegalStateException.class, thrownBy(() -> world.add(options)));
        assertTrue(world.scheduler.awaitIdle().isDone());
        CompletableFuture<?> limited = world.add(NORMAL.withRunTimeout(Duration.ofSeconds(3)));
        world.scheduler.resume();
        assertEquals("no timer", Futures.failure(limited).getMessage());
        world.scheduler.close();
    }

    private static Throwable thrownBy(Runnable action) {
        try {
            action.run();
        } catch (IllegalStateException e) {
            return e;
        }
        throw new AssertionError("nothing was thrown");
    }
}
