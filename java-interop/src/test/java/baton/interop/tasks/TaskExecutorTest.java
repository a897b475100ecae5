package baton.interop.tasks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.Priority;
import baton.interop.AsyncTaskScheduler;
import baton.interop.Futures;
import baton.scheduler.OnFullQueue;
import baton.scheduler.SchedulerClosedException;
import baton.scheduler.TaskScheduler;
import baton.scheduler.TaskSchedulerConfig;
import baton.scheduler.TaskShedException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import kotlinx.coroutines.CoroutineScope;
import kotlinx.coroutines.CoroutineScopeKt;
import kotlinx.coroutines.Dispatchers;
import org.junit.jupiter.api.Test;

/** Commands that the scheduler or its executor ends without running them: no thread waits for them in vain. */
class TaskExecutorTest {
    private final CompletableFuture<Object> stage = new CompletableFuture<>();
    private boolean ran;

    private static AsyncTaskScheduler dropping(int capacity) {
        return AsyncTaskScheduler.builder(1)
                .executor(Runnable::run)
                .capacity(capacity, OnFullQueue.DROP_LOWEST)
                .build();
    }

    private static void assertTerminated(AsyncTaskScheduler scheduler, ExecutorService executor) throws Exception {
        executor.shutdown();
        assertTrue(executor.awaitTermination(0, TimeUnit.SECONDS), executor::toString);
        assertEquals(0, scheduler.metrics().getQueued());
    }

    @Test
    void command_thatLosesItsPlaceInTheQueue_isCancelled() throws Exception {
        AsyncTaskScheduler scheduler = dropping(1);
        ExecutorService low = scheduler.executor(Priority.LOW);
        var running = scheduler.schedule(Priority.NORMAL, () -> stage);
        Future<?> shed = low.submit(() -> ran = true);
        var urgent = scheduler.schedule(Priority.HIGH, () -> stage);
        assertTrue(shed.isCancelled());
        stage.complete(null);
        assertTrue(running.isDone() && urgent.isDone() && !ran);
        assertTerminated(scheduler, low);
    }

    @Test
    void command_forWhichThereIsNoRoomOrNoThread_isRefused() throws Exception {
        AsyncTaskScheduler full = AsyncTaskScheduler.builder(1)
                .executor(Futures.REJECTING)
                .capacity(0, OnFullQueue.REJECT)
                .build();
        ExecutorService executor = full.executor(Priority.NORMAL);
        var e = assertThrows(RejectedExecutionException.class, () -> executor.submit(() -> ran = true));
        assertInstanceOf(RejectedExecutionException.class, e.getCause());
        assertEquals(0, full.metrics().getRunning());
        full.close();
        e = assertThrows(RejectedExecutionException.class, () -> executor.submit(() -> ran = true));
        assertInstanceOf(SchedulerClosedException.class, e.getCause());
        assertFalse(ran);
        assertTerminated(full, executor);
    }

    /** The future of a {@code supplyAsync} whose command never runs cannot be completed, so the loss is reported. */
    @Test
    void command_thatIsNoFutureAndLosesItsPlace_isReported() throws Exception {
        AsyncTaskScheduler scheduler = dropping(2);
        ExecutorService low = scheduler.executor(Priority.LOW);
        var running = scheduler.schedule(Priority.NORMAL, () -> stage);
        var async = CompletableFuture.supplyAsync(() -> ran = true, low);
        low.execute(() -> ran = true);
        List<Throwable> reported = new ArrayList<>();
        Futures.reportingTo(reported::add, () -> {
            var urgent = scheduler.schedule(Priority.HIGH, () -> stage);
            assertEquals(1, reported.size());
            assertInstanceOf(RejectedExecutionException.class, reported.get(0));
            assertInstanceOf(TaskShedException.class, reported.get(0).getCause());
            scheduler.closeNow();
            assertEquals(2, reported.size());
            assertInstanceOf(SchedulerClosedException.class, reported.get(1).getCause());
            assertTrue(reported.get(1).getMessage().contains(low.toString()), reported.get(1)::getMessage);
            assertTrue(urgent.isCompletedExceptionally());
        });
        stage.complete(null);
        assertTrue(running.isDone() && !async.isDone() && !ran);
        assertTerminated(scheduler, low);
    }

    /** The command is rejected after {@code submit} has returned, so no caller can receive an exception. */
    @Test
    void command_rejectedOnceItHasASlot_isCancelled() throws Exception {
        Futures.Steps steps = new Futures.Steps();
        boolean[] isFull = {false};
        Executor base = command -> (isFull[0] ? Futures.REJECTING : steps).execute(command);
        AsyncTaskScheduler scheduler =
                AsyncTaskScheduler.builder(1).executor(base).build();
        ExecutorService executor = scheduler.executor(Priority.NORMAL);
        var running = scheduler.schedule(Priority.NORMAL, () -> stage);
        Future<?> rejected = executor.submit(() -> ran = true);
        steps.runAll();
        isFull[0] = true;
        stage.complete(null);
        assertTrue(running.isDone() && rejected.isCancelled() && !ran);
        assertEquals(0, scheduler.metrics().getRunning());
        assertTerminated(scheduler, executor);
    }

    @Test
    void command_ofAScopeThatIsCancelled_isCancelled() throws Exception {
        CoroutineScope scope = CoroutineScopeKt.CoroutineScope(Dispatchers.getDefault());
        AsyncTaskScheduler scheduler =
                AsyncTaskScheduler.of(new TaskScheduler(scope, 1, null, new TaskSchedulerConfig()), Runnable::run);
        ExecutorService executor = scheduler.executor(Priority.NORMAL);
        var running = scheduler.schedule(Priority.NORMAL, () -> stage);
        Future<?> waits = executor.submit(() -> ran = true);
        CoroutineScopeKt.cancel(scope, null);
        assertTrue(running.isCancelled() && waits.isCancelled() && !ran);
        assertThrows(RejectedExecutionException.class, () -> executor.execute(() -> ran = true));
        assertTerminated(scheduler, executor);
    }
}
