package baton.interop.stack;

import static baton.interop.Futures.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import baton.Priority;
import baton.interop.AsyncTaskScheduler;
import baton.interop.Futures;
import baton.interop.TaskOptions;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/**
 * Many Java tasks, each of which starts the next when it ends, on executors that run or refuse them in place. Deeply
 * nested tasks begin on another thread, so the test waits for them.
 */
class TaskFutureStackTest {
    private static final int MANY = 20_000;

    private final AsyncTaskScheduler scheduler =
            AsyncTaskScheduler.builder(1).executor(Runnable::run).build();
    private final AtomicInteger runs = new AtomicInteger();
    private final CompletableFuture<Object> last = new CompletableFuture<>();

    /** The body of every task. */
    private int run(int tasks) {
        int now = runs.incrementAndGet();
        if (now == tasks) last.complete(now);
        return now;
    }

    private void pass(int tasks, Runnable add) {
        scheduler.pause();
        for (int i = 0; i < tasks; i++) add.run();
        scheduler.resume();
        await(last);
        await(scheduler.drain());
        assertEquals(tasks, runs.get());
        assertEquals(0, scheduler.metrics().getRunning() + scheduler.metrics().getQueued());
    }

    private CompletableFuture<Integer> call(int tasks, Executor executor) {
        return scheduler.schedule(TaskOptions.of(Priority.NORMAL).withExecutor(executor), () -> run(tasks));
    }

    @Test
    void callables_many_keepTheStackFlat() {
        Executor direct = Runnable::run;
        pass(MANY, () -> call(MANY, direct));
    }

    @Test
    void callables_eachOnAnExecutorOfItsOwn_keepTheStackFlat() {
        pass(
                MANY,
                () -> call(MANY, new Executor() {
                    @Override
                    public void execute(Runnable command) {
                        command.run();
                    }
                }));
    }

    @Test
    void callables_withDependents_keepTheStackFlat() {
        Executor direct = Runnable::run;
        pass(
                MANY,
                () -> scheduler
                        .schedule(TaskOptions.of(Priority.NORMAL).withExecutor(direct), () -> 1)
                        .thenAccept(x -> run(MANY)));
    }

    @Test
    void callables_thatAreRejected_keepTheStackFlat() {
        pass(MANY, () -> call(MANY, Futures.REJECTING).whenComplete((x, e) -> run(MANY)));
    }

    @Test
    void suppliers_many_keepTheStackFlat() {
        pass(MANY, () -> scheduler.schedule(Priority.NORMAL, () -> CompletableFuture.completedFuture(run(MANY))));
    }

    @Test
    void commands_many_keepTheStackFlat() {
        Executor executor = scheduler.executor(Priority.LOW);
        pass(MANY, () -> executor.execute(() -> run(MANY)));
    }

    @Test
    void callables_eachOfWhichSchedulesTheNext_keepTheStackFlat() {
        next(Runnable::run);
        await(last);
        assertEquals(MANY, runs.get());
    }

    private void next(Executor executor) {
        Callable<Object> task = () -> {
            if (run(MANY) < MANY) next(executor);
            return "scheduled";
        };
        var unused = scheduler.schedule(TaskOptions.of(Priority.NORMAL).withExecutor(executor), task);
    }
}
