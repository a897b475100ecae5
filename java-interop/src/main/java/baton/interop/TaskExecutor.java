package baton.interop;

import baton.Priority;
import baton.waiting.FlatStack;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/** Commands as tasks of a scheduler. A command that is dropped leaves the scheduler's queue at once. */
final class TaskExecutor extends ManagedExecutor {
    private final AsyncTaskScheduler scheduler;
    private final Executor executor;
    private final Priority priority;

    TaskExecutor(AsyncTaskScheduler scheduler, Executor executor, Priority priority) {
        this.scheduler = scheduler;
        this.executor = executor;
        this.priority = priority;
    }

    @Override
    @Nullable
    Throwable handOver(Work work) {
        CompletableFuture<@Nullable Void> task = scheduler.schedule(priority, () -> run(work), executor);
        if (task.isCompletedExceptionally()) return Stages.failure(task);
        work.handle = task;
        // Whoever drops it looks for the handle after that.
        if (work.isEnded()) task.cancel(false);
        var unused = task.whenComplete((value, failure) -> neverRan(work));
        return null;
    }

    private static @Nullable Void run(Work work) {
        try {
            work.run();
        } catch (Throwable e) {
            // The task has no user who could see it.
            FlatStack.report(e);
        }
        return null;
    }

    /** If the scheduler has ended its task without running it, nobody shall wait for it. */
    private static void neverRan(Work work) {
        if (work.drop() && work.command instanceof Future<?> future) future.cancel(false);
    }

    @Override
    void withdrawn(Work work) {
        Future<?> task = work.handle;
        if (task != null) task.cancel(false);
    }

    @Override
    public String toString() {
        return "TaskExecutor (" + priority + ", " + state() + ", of " + scheduler + ")";
    }
}
