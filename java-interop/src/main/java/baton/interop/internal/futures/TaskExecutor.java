package baton.interop.internal.futures;

import baton.Priority;
import baton.interop.AsyncTaskScheduler;
import baton.waiting.coroutine.Trampoline;
import java.util.concurrent.CompletableFuture.AsynchronousCompletionTask;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/** Commands as tasks of a scheduler. A command that is dropped leaves the scheduler's queue at once. */
public final class TaskExecutor extends ManagedExecutor {
    private final AsyncTaskScheduler scheduler;
    private final Executor executor;
    private final Priority priority;

    public TaskExecutor(AsyncTaskScheduler scheduler, Executor executor, Priority priority) {
        this.scheduler = scheduler;
        this.executor = executor;
        this.priority = priority;
    }

    @Override
    @Nullable
    Throwable handOver(Work work) {
        Command task = new Command(work);
        work.handle = task.submit();
        // What is dropped from now on sees the handle. What was dropped before is refused.
        if (task.isCompletedExceptionally()) return Stages.failure(task);
        // Whoever drops the work looks for the handle after that.
        if (work.isEnded()) task.cancel(false);
        return null;
    }

    /** The task of a work. It has no user: nobody sees how it ends, or depends on it. */
    private final class Command extends TaskFuture<@Nullable Void, Work> {
        Command(Work work) {
            super(scheduler.kotlin(), priority, executor, work);
        }

        @Override
        void act(Work work) {
            work.run(() -> ended(null, null));
        }

        /**
         * The scheduler has ended it without running it. If that was at once, {@code execute} throws. Else its future
         * is cancelled, and what has none, or is a stage's, whose future only the command could complete, is reported.
         */
        @Override
        void dropped(Work work) {
            boolean isAccepted = work.handle != null;
            if (!isAccepted || !work.drop()) return;
            Runnable command = work.command;
            if (command instanceof Future<?> future && !(command instanceof AsynchronousCompletionTask)) {
                future.cancel(false);
            } else {
                String message = command + " was dropped: " + TaskExecutor.this;
                Trampoline.report(new RejectedExecutionException(message, Stages.failure(this)));
            }
        }
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
