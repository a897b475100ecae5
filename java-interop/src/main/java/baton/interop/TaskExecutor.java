package baton.interop;

import baton.Priority;
import baton.waiting.FlatStack;
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
        Command task = new Command(work);
        work.handle = task.submit();
        // What is dropped from now on sees the handle. What was dropped before is refused.
        if (task.isCompletedExceptionally()) return Stages.failure(task);
        // Whoever drops the work looks for the handle after that.
        if (work.isEnded()) task.cancel(false);
        return null;
    }

    /** The task of a work. It has no user: nobody sees how it ends, or depends on it. */
    private final class Command extends ScheduledCall<@Nullable Void, Work> {
        Command(Work work) {
            super(scheduler.kotlin(), priority, executor, work);
        }

        @Override
        void act(Work work) {
            try {
                work.run();
            } catch (Throwable e) {
                FlatStack.report(e);
            }
            ended(null, null);
        }

        /** If the scheduler has ended it without running it, nobody shall wait for it. */
        @Override
        void dropped(Work work) {
            boolean isKnown = work.handle != null;
            if (isKnown && work.drop() && work.command instanceof Future<?> future) future.cancel(false);
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
