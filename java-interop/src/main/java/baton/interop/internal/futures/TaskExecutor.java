package baton.interop.internal.futures;

import baton.Priority;
import baton.interop.AsyncTaskScheduler;
import baton.scheduler.TaskScheduler;
import baton.waiting.threads.Trampoline;
import java.util.concurrent.CompletableFuture.AsynchronousCompletionTask;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/** Runs commands as tasks of a scheduler. A command that is dropped leaves the scheduler's queue at once. */
public final class TaskExecutor extends ManagedExecutor {
    private final AsyncTaskScheduler scheduler;
    private final Executor executor;
    private final Priority priority;

    public TaskExecutor(AsyncTaskScheduler scheduler, Executor executor, Priority priority) {
        this.scheduler = scheduler;
        this.executor = executor;
        this.priority = priority;
    }

    /**
     * The executor.
     *
     * @throws IllegalArgumentException if it runs commands as tasks of that scheduler: a task would wait, in its slot,
     *     for another slot
     */
    public static Executor notOf(TaskScheduler scheduler, Executor executor) {
        if (executor instanceof TaskExecutor tasks && tasks.scheduler.kotlin() == scheduler)
            throw new IllegalArgumentException(
                    "executor = " + executor
                            + ", must not be of the scheduler whose tasks it runs: each would wait in its slot for another one");
        return executor;
    }

    @Override
    @Nullable
    Throwable submitWork(Work work) {
        Command task = new Command(work);
        task.submit();
        work.handle = task;
        // A task that is dropped from now on sees the handle; one that was dropped before is refused.
        if (task.isCompletedExceptionally()) return Stages.failure(task);
        // The thread that drops the work reads the handle after it has ended the work.
        if (work.isEnded()) task.cancel(false);
        return null;
    }

    /** The task of a work. No user code has this future, so it has no dependents. */
    private final class Command extends TaskFuture<@Nullable Void, Work> {
        Command(Work work) {
            super(scheduler.kotlin(), priority, null, null, executor, work);
        }

        @Override
        protected void run(Work work) {
            work.run(() -> actionEnded(null, null));
        }

        /**
         * If the scheduler drops the task during its submission, {@code execute} throws. Later, a command that is a
         * future is cancelled. Any other is reported, and so is the command of a stage: only that command could
         * complete the stage's future.
         */
        @Override
        void actionDropped(Work work) {
            boolean isAccepted = work.handle != null;
            if (!isAccepted || !work.dropWork()) return;
            Runnable command = work.command;
            if (command instanceof Future<?> future && !(command instanceof AsynchronousCompletionTask)) {
                try {
                    future.cancel(false);
                } catch (Throwable e) {
                    // Of the command's own code, such as the `done` of a FutureTask.
                    Trampoline.report(e);
                }
            } else {
                String message = command + " was dropped: " + TaskExecutor.this;
                Trampoline.report(new RejectedExecutionException(message, Stages.failure(this)));
            }
        }
    }

    @Override
    void workDropped(Work work) {
        Future<?> task = work.handle;
        if (task != null) task.cancel(false);
    }

    @Override
    public String toString() {
        return "TaskExecutor (" + priority + ", " + state() + ", of " + scheduler + ")";
    }
}
