package baton.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import baton.Priority;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Many Java tasks, each of which starts the next by its end, on executors that run or refuse them at once. */
class TaskRowStackTest {
    private static final int MANY = 100_000;

    private final AsyncTaskScheduler scheduler =
            AsyncTaskScheduler.builder(1).executor(Runnable::run).build();
    private final AtomicInteger runs = new AtomicInteger();

    private void pass(Runnable add) {
        scheduler.pause();
        for (int i = 0; i < MANY; i++) add.run();
        scheduler.resume();
        assertEquals(MANY, runs.get());
        assertEquals(0, scheduler.metrics().getRunning() + scheduler.metrics().getQueued());
    }

    private CompletableFuture<Integer> call(Executor executor) {
        return scheduler.schedule(Priority.NORMAL, runs::incrementAndGet, executor);
    }

    @Test
    void callables_manyInARow_keepTheStackFlat() {
        Executor direct = Runnable::run;
        pass(() -> call(direct));
    }

    @Test
    void callables_eachOnAnExecutorOfItsOwn_keepTheStackFlat() {
        pass(() -> call(new Executor() {
            @Override
            public void execute(Runnable command) {
                command.run();
            }
        }));
    }

    @Test
    void callables_withDependents_keepTheStackFlat() {
        AtomicInteger seen = new AtomicInteger();
        Executor direct = Runnable::run;
        pass(() -> call(direct).thenAccept(x -> seen.incrementAndGet()));
        assertEquals(MANY, seen.get());
    }

    @Test
    void callables_thatAreRejected_keepTheStackFlat() {
        pass(() -> call(Futures.REJECTING).whenComplete((x, e) -> runs.incrementAndGet()));
    }

    @Test
    void suppliers_manyInARow_keepTheStackFlat() {
        pass(() ->
                scheduler.schedule(Priority.NORMAL, () -> CompletableFuture.completedFuture(runs.incrementAndGet())));
    }

    @Test
    void commands_manyInARow_keepTheStackFlat() {
        Executor executor = scheduler.executor(Priority.LOW);
        pass(() -> executor.execute(runs::incrementAndGet));
    }

    @Test
    void callables_eachOfWhichSchedulesTheNext_keepTheStackFlat() {
        next(Runnable::run);
        assertEquals(MANY, runs.get());
    }

    private void next(Executor executor) {
        var unused = scheduler.schedule(
                Priority.NORMAL,
                () -> {
                    if (runs.incrementAndGet() < MANY) next(executor);
                    return null;
                },
                executor);
    }
}
