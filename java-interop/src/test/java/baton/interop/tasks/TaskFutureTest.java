package baton.interop.tasks;

import static baton.interop.Futures.await;
import static baton.interop.Futures.failure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.Priority;
import baton.interop.AsyncMutex;
import baton.interop.AsyncTaskScheduler;
import baton.interop.Futures;
import baton.interop.Permit;
import baton.interop.TaskOptions;
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
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Java tasks and their executor, which receives each task as one command. */
class TaskFutureTest {
    /** Runs its commands when the test calls {@code steps}, and logs the beginning and end of each. */
    private final class Commands implements Executor {
        final Futures.Steps steps = new Futures.Steps();
        private int given;

        /** Receives the next command. */
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
        return scheduler.schedule(TaskOptions.of(Priority.NORMAL).withExecutor(executor), task);
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

    /** The log of these commands, one after another. */
    private static List<Object> oneByOne(Object... names) {
        return Stream.of(names).flatMap(name -> Stream.of("(", name, ")")).toList();
    }

    @Test
    void tasks_areOneCommandEachAndLetOthersIn() {
        List<CompletableFuture<Object>> tasks = new ArrayList<>();
        for (int i = 1; i <= 3; i++) tasks.add(add(i));
        commands.steps.execute(() -> log.add("other"));
        runAll();
        assertLog("(", 1, ")", "other", "(", 2, ")", "(", 3, ")");
        for (int i = 1; i <= 3; i++) assertEquals(i, tasks.get(i - 1).join());
        assertEnded(3, 0, 0, 0);
    }

    @Test
    void tasks_ofSeveralPlacesOnOneThread_runInTheOrderInWhichTheyWereStarted() {
        scheduler.maxConcurrency(2);
        for (int i = 1; i <= 6; i++) add(i);
        runAll();
        assertEquals(oneByOne(1, 2, 3, 4, 5, 6), log);
        assertEnded(6, 0, 0, 0);
    }

    @Test
    void tasks_onAThreadPerTask_shareNoThreadLocals() {
        ThreadLocal<Integer> local = new ThreadLocal<>();
        Executor threads = command -> new Thread(command).start();
        scheduler.pause();
        List<CompletableFuture<Integer>> seen = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            int now = i;
            Callable<Integer> task = () -> {
                Integer before = local.get();
                local.set(now);
                return before;
            };
            seen.add(scheduler.schedule(TaskOptions.of(Priority.NORMAL).withExecutor(threads), task));
        }
        scheduler.resume();
        for (CompletableFuture<Integer> future : seen) assertNull(await(future));
    }

    /** The callback of the eighth holder is nested as deeply as callbacks may be. */
    @Test
    void schedule_byEachHolderOfAMutexWhichWaitsForTheTask_ends() {
        ExecutorService pool = Executors.newSingleThreadExecutor();
        AsyncMutex mutex = AsyncMutex.create();
        Permit first = mutex.lock().join();
        List<CompletableFuture<Integer>> holders = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            holders.add(mutex.lock().thenApply(permit -> {
                try (permit) {
                    return await(
                            scheduler.schedule(TaskOptions.of(Priority.NORMAL).withExecutor(pool), () -> 1));
                }
            }));
        }
        first.close();
        for (CompletableFuture<Integer> holder : holders) assertEquals(1, await(holder));
        pool.shutdown();
    }

    @Test
    void schedule_byTasksInPlaceEachOfWhichWaitsForTheNext_ends() {
        scheduler.maxConcurrency(30);
        assertEquals(20, await(nested(20)));
    }

    private CompletableFuture<Integer> nested(int depth) {
        Callable<Integer> task = () -> depth == 0 ? 0 : await(nested(depth - 1)) + 1;
        return scheduler.schedule(TaskOptions.of(Priority.NORMAL).withExecutor(Runnable::run), task);
    }

    @Test
    void stage_keepsThePlaceUntilItHasEnded() {
        CompletableFuture<Object> stage = new CompletableFuture<>();
        var ended = scheduler.schedule(Priority.NORMAL, () -> CompletableFuture.completedFuture(log.add("ended")));
        CompletableFuture<Object> waits = scheduler.schedule(Priority.NORMAL, () -> stage);
        add("next");
        runAll();
        assertLog("(", "ended", ")", "(", ")");
        await(CompletableFuture.runAsync(() -> stage.complete("end")));
        assertTrue(ended.join());
        assertEquals("end", waits.join());
        assertLog("(", "ended", ")", "(", ")");
        runAll();
        assertLog("(", "ended", ")", "(", ")", "(", "next", ")");
        assertEnded(3, 0, 0, 0);
    }

    @Test
    void stage_thatEndsOnAnotherThreadMeanwhile_givesThePlaceBackThere() {
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

    @Test
    void tasks_ofSeveralExecutors_runEachOnItsOwn() {
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

    static Stream<BiFunction<CompletableFuture<Object>, Runnable, CompletableFuture<?>>> dependents() {
        return Stream.of(
                (future, act) -> future.thenRun(act),
                (future, act) -> new CompletableFuture<>().applyToEither(future, x -> run(act)),
                (future, act) -> CompletableFuture.completedFuture(1).thenCombine(future, (a, b) -> run(act)),
                (future, act) -> CompletableFuture.completedFuture(1)
                        .thenCompose(x -> future)
                        .thenRun(act),
                (future, act) -> future.minimalCompletionStage().thenRun(act).toCompletableFuture(),
                (future, act) -> future.copy().thenRun(act),
                (future, act) -> CompletableFuture.allOf(future).thenRun(act),
                (future, act) -> CompletableFuture.anyOf(future).thenRun(act));
    }

    private static boolean run(Runnable act) {
        act.run();
        return true;
    }

    @ParameterizedTest
    @MethodSource
    void dependents(BiFunction<CompletableFuture<Object>, Runnable, CompletableFuture<?>> depend) {
        CompletableFuture<?> dependent = depend.apply(add("first"), () -> {
            // The dependent may block its thread until the next task has ended.
            assertEquals(2, commands.given);
            log.add("dependent");
        });
        add("next");
        runAll();
        assertTrue(dependent.isDone() && !dependent.isCompletedExceptionally(), dependent::toString);
        assertLog("(", "first", "dependent", ")", "(", "next", ")");
        assertEnded(2, 0, 0, 0);
    }

    @Test
    void pool_shutDownByATask_refusesTheNext() {
        ExecutorService pool = Executors.newSingleThreadExecutor();
        scheduler.pause();
        CompletableFuture<Object> first =
                scheduler.schedule(TaskOptions.of(Priority.NORMAL).withExecutor(pool), pool::shutdownNow);
        CompletableFuture<Object> second = add("second", pool);
        scheduler.resume();
        await(first);
        assertInstanceOf(RejectedExecutionException.class, Futures.awaitFailure(second));
        assertEnded(1, 1, 0, 0);
    }

    @Test
    void executor_thatRejectsOne_failsItAndTakesTheRest() {
        List<CompletableFuture<Object>> tasks = new ArrayList<>();
        for (int i = 1; i <= 20; i++) tasks.add(add(i));
        commands.fate = Futures.REJECTING::execute;
        runAll();
        assertInstanceOf(RejectedExecutionException.class, failure(tasks.remove(1)));
        for (CompletableFuture<Object> task : tasks) assertTrue(task.isDone() && !task.isCompletedExceptionally());
        assertEnded(19, 1, 0, 0);
        assertEquals(20, commands.given);
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

    /** A stage that reports its end and then throws still ends its task only once. */
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
        assertLog("(", ")", "(", "second", ")", "(", "third", ")");
        assertEnded(3, 0, 0, 0);
    }

    @Test
    void cancel_ofACallableThatRuns_completesItAtOnceAndKeepsThePlaceToItsEnd() {
        List<CompletableFuture<Object>> tasks = new ArrayList<>();
        Callable<Object> task = () -> {
            assertTrue(tasks.get(0).cancel(true));
            assertEquals(1, scheduler.metrics().getQueued());
            return log.add("first");
        };
        tasks.add(scheduler.schedule(TaskOptions.of(Priority.NORMAL).withExecutor(commands), task));
        add("next");
        runAll();
        assertTrue(tasks.get(0).isCancelled());
        assertLog("(", "first", ")", "(", "next", ")");
        assertEnded(2, 0, 0, 0);
    }
}
