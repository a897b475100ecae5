package baton.interop;

import static baton.interop.Futures.await;
import static baton.interop.Futures.failure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.Priority;
import baton.scheduler.TaskSchedulerMetrics;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Java tasks that follow each other on one thread. */
class TaskRowTest {
    /** Runs its commands when the test says so, and logs that. */
    private final class Commands implements Executor {
        final Futures.Steps steps = new Futures.Steps();
        private int given;

        /** Of the next command that is given. */
        private Consumer<Runnable> fate = steps::execute;

        @Override
        public void execute(Runnable command) {
            given++;
            Consumer<Runnable> now = fate;
            fate = steps::execute;
            now.accept(() -> {
                log.add("(");
                command.run();
                log.add(")");
            });
        }
    }

    private final List<Object> log = Collections.synchronizedList(new ArrayList<>());
    private final Commands commands = new Commands();
    private final AsyncTaskScheduler scheduler =
            AsyncTaskScheduler.builder(1).executor(commands).build();

    private CompletableFuture<Object> add(Object name) {
        return add(name, commands);
    }

    private CompletableFuture<Object> add(Object name, Executor executor) {
        Callable<Object> task = () -> {
            log.add(name);
            return name;
        };
        return scheduler.schedule(Priority.NORMAL, task, executor);
    }

    private void runAll() {
        commands.steps.runAll();
    }

    private void assertLog(Object... expected) {
        assertEquals(List.of(expected), log);
    }

    private void assertEnded(long done, long failed, long cancelled, long withdrawn) {
        TaskSchedulerMetrics metrics = scheduler.metrics();
        assertEquals(0, metrics.getQueued() + metrics.getRunning());
        TaskSchedulerMetrics.OfLevel normal = metrics.get(Priority.NORMAL);
        assertEquals(
                List.of(done, failed, cancelled, withdrawn),
                List.of(normal.getDone(), normal.getFailed(), normal.getCancelled(), normal.getWithdrawn()));
        assertTrue(scheduler.drain().isDone());
    }

    @Test
    void tasks_runInARowOfSixteenAndThenLetOthersIn() {
        List<CompletableFuture<Object>> tasks = new ArrayList<>();
        for (int i = 1; i <= 40; i++) tasks.add(add(i));
        commands.steps.execute(() -> log.add("other"));
        runAll();
        List<Object> expected = new ArrayList<>();
        for (int i = 1; i <= 40; i++) {
            if (i % 16 == 1) expected.add("(");
            expected.add(i);
            if (i == 40 || i % 16 == 0) expected.add(")");
            if (i == 16) expected.add("other");
        }
        assertEquals(expected, log);
        for (int i = 1; i <= 40; i++) assertEquals(i, tasks.get(i - 1).join());
        assertEnded(40, 0, 0, 0);
    }

    @Test
    void tasks_ofSeveralPlaces_runInARowForEachPlace() {
        scheduler.maxConcurrency(2);
        for (int i = 1; i <= 6; i++) add(i);
        runAll();
        assertLog("(", 1, 3, 4, 5, 6, ")", "(", 2, ")");
        assertEnded(6, 0, 0, 0);
    }

    @Test
    void task_thatFails_isFollowed() {
        Callable<Object> broken = () -> {
            throw new IllegalStateException("broken");
        };
        CompletableFuture<Object> failed = scheduler.schedule(Priority.NORMAL, broken, commands);
        add("next");
        runAll();
        assertInstanceOf(IllegalStateException.class, failure(failed));
        assertLog("(", "next", ")");
        assertEnded(1, 1, 0, 0);
    }

    @Test
    void stage_thatHasEnded_isFollowedAndOneThatHasNotLeavesTheRow() {
        CompletableFuture<Object> stage = new CompletableFuture<>();
        var unused = scheduler.schedule(Priority.NORMAL, () -> CompletableFuture.completedFuture(log.add("ended")));
        CompletableFuture<Object> waits = scheduler.schedule(Priority.NORMAL, () -> stage);
        add("next");
        runAll();
        assertLog("(", "ended", ")");
        await(CompletableFuture.runAsync(() -> stage.complete("end")));
        assertEquals("end", waits.join());
        assertLog("(", "ended", ")");
        runAll();
        assertLog("(", "ended", ")", "(", "next", ")");
        assertEnded(3, 0, 0, 0);
    }

    @Test
    void stage_thatEndsOnAnotherThreadMeanwhile_isNotFollowedHere() {
        CompletableFuture<Object> stage = new CompletableFuture<>() {
            @Override
            public CompletableFuture<Object> whenComplete(BiConsumer<? super Object, ? super Throwable> ended) {
                await(CompletableFuture.runAsync(() -> ended.accept("end", null)));
                return this;
            }
        };
        CompletableFuture<Object> first = scheduler.schedule(Priority.NORMAL, () -> stage);
        add("next");
        runAll();
        assertEquals("end", first.join());
        assertLog("(", ")", "(", "next", ")");
        assertEnded(2, 0, 0, 0);
    }

    /** Its task has left the row, though the thread is the same. */
    @Test
    void stage_thatEndsInsideAnotherTask_isNotFollowedThere() {
        CompletableFuture<Object> stage = new CompletableFuture<>();
        scheduler.maxConcurrency(2);
        var first = scheduler.schedule(Priority.NORMAL, () -> stage);
        var second = scheduler.schedule(Priority.NORMAL, () -> stage.complete("end") && log.add("second"), commands);
        add("next");
        runAll();
        assertLog("(", ")", "(", "second", ")", "(", "next", ")");
        assertTrue(second.join());
        assertEquals("end", first.join());
        assertEnded(3, 0, 0, 0);
    }

    @Test
    void task_ofAnotherExecutor_doesNotFollow() {
        Commands others = new Commands();
        add("first");
        add("second", others);
        add("third");
        runAll();
        assertLog("(", "first", ")");
        others.steps.runAll();
        runAll();
        assertLog("(", "first", ")", "(", "second", ")", "(", "third", ")");
        assertEnded(3, 0, 0, 0);
    }

    @Test
    void executor_thatKnowsLevels_getsEachTaskByItself() {
        PriorityExecutor normal = PriorityExecutor.over(commands.steps, 1);
        Callable<Boolean> task = () -> {
            normal.level(Priority.HIGH).execute(() -> log.add("urgent"));
            return log.add("task");
        };
        scheduler.schedule(Priority.NORMAL, task, normal);
        add("next", normal);
        runAll();
        assertLog("task", "urgent", "next");
        assertEnded(2, 0, 0, 0);
    }

    static Stream<BiConsumer<TaskRowTest, CompletableFuture<Object>>> dependents() {
        return Stream.of(
                (test, future) -> future.thenAccept(test.log::add),
                (test, future) -> new CompletableFuture<>().applyToEither(future, test.log::add),
                (test, future) -> CompletableFuture.completedFuture(1).thenCombine(future, (a, b) -> test.log.add(b)),
                (test, future) -> CompletableFuture.completedFuture(1)
                        .thenCompose(x -> future)
                        .thenAccept(test.log::add),
                (test, future) -> future.minimalCompletionStage().thenAccept(test.log::add),
                (test, future) -> future.copy().thenAccept(test.log::add),
                (test, future) -> CompletableFuture.allOf(future).thenAccept(test.log::add),
                (test, future) -> CompletableFuture.anyOf(future).thenAccept(test.log::add));
    }

    @ParameterizedTest
    @MethodSource
    void dependents(BiConsumer<TaskRowTest, CompletableFuture<Object>> depend) {
        CompletableFuture<Object> first = add("first");
        depend.accept(this, first);
        add("next");
        add("last");
        runAll();
        assertEquals(2, commands.given);
        assertEquals(List.of("(", "first"), log.subList(0, 2));
        assertEquals(List.of(")", "(", "next", "last", ")"), log.subList(3, 8));
        assertEnded(3, 0, 0, 0);
    }

    /** A pool clears it between its commands, unless it is being shut down. */
    @Test
    void interrupt_thatATaskLeavesBehind_isTheExecutorsAffair() {
        Callable<Object> interrupting = () -> {
            Thread.currentThread().interrupt();
            return null;
        };
        scheduler.schedule(Priority.NORMAL, interrupting, commands);
        add("next");
        commands.steps.execute(() -> log.add(Thread.interrupted()));
        runAll();
        assertLog("(", ")", true, "(", "next", ")");
        assertEquals(2, commands.given);
        assertEnded(2, 0, 0, 0);
    }

    @Test
    void pool_shutDownByATask_refusesTheNext() {
        ExecutorService pool = Executors.newSingleThreadExecutor();
        scheduler.pause();
        CompletableFuture<Object> first = scheduler.schedule(Priority.NORMAL, pool::shutdownNow, pool);
        CompletableFuture<Object> second = add("second", pool);
        scheduler.resume();
        await(first);
        assertInstanceOf(RejectedExecutionException.class, Futures.awaitFailure(second));
        assertEnded(1, 1, 0, 0);
    }

    @Test
    void executor_thatRejectsTheSeventeenth_failsItAndTakesTheRest() {
        List<CompletableFuture<Object>> tasks = new ArrayList<>();
        for (int i = 1; i <= 20; i++) tasks.add(add(i));
        commands.fate = Futures.REJECTING::execute;
        runAll();
        assertInstanceOf(RejectedExecutionException.class, failure(tasks.remove(16)));
        for (CompletableFuture<Object> task : tasks) assertTrue(task.isDone() && !task.isCompletedExceptionally());
        assertEnded(19, 1, 0, 0);
        assertEquals(3, commands.given);
    }

    @Test
    void executor_thatRunsACommandAndThenThrows_hasRunIt() {
        commands.fate = command -> {
            command.run();
            throw new RejectedExecutionException("too late");
        };
        assertEquals("ran", add("ran").join());
        assertEnded(1, 0, 0, 0);
    }

    @Test
    void executor_thatDropsACommand_keepsThePlaceUntilItIsCancelled() {
        commands.fate = command -> {};
        CompletableFuture<Object> dropped = add("dropped");
        add("next");
        runAll();
        assertLog();
        assertTrue(dropped.cancel(false));
        runAll();
        assertLog("(", "next", ")");
        assertEnded(1, 0, 1, 0);
    }

    @Test
    void cancel_whileItWaitsForItsThread_givesThePlaceBackOnce() {
        CompletableFuture<Object> chosen = add("chosen");
        add("next");
        assertTrue(chosen.cancel(false));
        assertFalse(chosen.cancel(false) && chosen.complete("late"));
        assertEquals(1, scheduler.metrics().getRunning());
        runAll();
        assertLog("(", ")", "(", "next", ")");
        assertEnded(1, 0, 1, 0);
    }

    /** A stage's callback ends the task; what comes after that is still on the thread for which the next one waits. */
    @Test
    void cancel_ofTheOneThatIsToFollow_letsTheOneBehindItRun() {
        List<CompletableFuture<Object>> tasks = new ArrayList<>();
        CompletableFuture<Object> stage = new CompletableFuture<>() {
            @Override
            public CompletableFuture<Object> whenComplete(BiConsumer<? super Object, ? super Throwable> ended) {
                ended.accept("first", null);
                assertEquals(1, scheduler.metrics().getRunning());
                assertTrue(tasks.get(0).cancel(true));
                return this;
            }
        };
        CompletableFuture<Object> first = scheduler.schedule(Priority.NORMAL, () -> stage);
        tasks.add(add("cancelled"));
        add("behind");
        runAll();
        assertEquals("first", first.join());
        assertLog("(", ")", "(", "behind", ")");
        assertEnded(2, 0, 1, 0);
    }

    /** Also if its stage says so twice. */
    @Test
    void stage_thatThrowsWhenItHasEnded_hasEndedOnce() {
        CompletionStage<Object> stage = new CompletableFuture<>() {
            @Override
            public CompletableFuture<Object> whenComplete(BiConsumer<? super Object, ? super Throwable> ended) {
                ended.accept("value", null);
                throw new IllegalStateException("broken");
            }
        };
        CompletableFuture<Object> first = scheduler.schedule(Priority.NORMAL, () -> stage);
        add("second");
        add("third");
        runAll();
        assertEquals("value", first.join());
        assertLog("(", "second", "third", ")");
        assertEnded(3, 0, 0, 0);
    }

    @Test
    void cancel_ofACallableThatRuns_completesItAtOnceAndIsFollowedAtItsEnd() {
        List<CompletableFuture<Object>> tasks = new ArrayList<>();
        Callable<Object> task = () -> {
            assertTrue(tasks.get(0).cancel(true));
            assertEquals(1, scheduler.metrics().getQueued());
            return log.add("first");
        };
        tasks.add(scheduler.schedule(Priority.NORMAL, task, commands));
        add("next");
        runAll();
        assertTrue(tasks.get(0).isCancelled());
        assertLog("(", "first", "next", ")");
        assertEnded(2, 0, 0, 0);
    }

    @Test
    void executor_ofTheScheduler_runsItsCommandsInARow() {
        ExecutorService executor = scheduler.executor(Priority.NORMAL);
        CompletableFuture<Boolean> stage = CompletableFuture.supplyAsync(() -> log.add(1), executor);
        CompletableFuture<Boolean> dependent = stage.thenApply(x -> log.add("dependent"));
        executor.execute(() -> log.add(2));
        runAll();
        assertTrue(dependent.join());
        assertLog("(", 1, "dependent", 2, ")");
        assertEnded(2, 0, 0, 0);
    }
}
