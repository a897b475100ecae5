package baton.interop.internal.futures;

import baton.Priority;
import baton.scheduler.TaskScheduler;
import baton.scheduler.bridge.StageTask;
import baton.scheduler.bridge.StageTasks;
import baton.waiting.threads.Trampoline;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import kotlinx.coroutines.DisposableHandle;
import org.jspecify.annotations.Nullable;

/**
 * The future of a task of a scheduler: waits for a slot, runs on its executor as one command, releases the slot when
 * the task has ended, and completes.
 *
 * <p>The slot is released before this is completed. So the task that gets the slot is already handed to its own
 * executor when the dependents of this run, and they may block until that task has ended, too.
 *
 * @param <A> the type of the action
 */
public abstract class TaskFuture<T extends @Nullable Object, A> extends StageFuture<T> {
    private final StageTask task;
    private final Executor executor;

    /** How long the action may run; null without a limit. */
    private final @Nullable Duration runTimeout;

    /** Cleared by the thread that ends the wait, because the future may be kept for its value. */
    private @Nullable A action;

    protected TaskFuture(
            TaskScheduler scheduler,
            Priority priority,
            @Nullable Object key,
            @Nullable Duration runTimeout,
            Executor executor,
            A action) {
        this.runTimeout = runTimeout;
        this.task = StageTasks.newStageTask(scheduler, priority, key, new Owner());
        this.executor = executor;
        this.action = action;
    }

    /** The task ends when the callable returns. */
    protected final void runCallable(Callable<? extends T> action) {
        T value = null;
        Throwable failure = null;
        try {
            value = action.call();
        } catch (Throwable e) {
            failure = Stages.unwrap(e);
        }
        actionEnded(value, failure);
    }

    /** Submits the task to its scheduler; to be called once. */
    protected final void submit() {
        task.submit(null);
    }

    /**
     * As the other, with a deadline for its start. If there is no thread for the timer of that, throws, and the task has
     * been withdrawn; a task that has begun by then needs no timer.
     */
    protected final void submit(Duration deadline) {
        long millis = Timeout.millis(deadline);
        task.submit(deadline);
        if (millis == 0 || !task.isQueued()) return;
        try {
            DisposableHandle timer = task.expireAfter(millis);
            var unused = whenComplete((value, e) -> timer.dispose());
        } catch (Throwable e) {
            if (!tryWithdraw()) return;
            var unused = clearAction();
            task.withdraw();
            completesNext();
            fail(e);
            throw e;
        }
    }

    /**
     * Fails with a TaskTimeoutException if the task has not ended after that time: as when this is completed from
     * outside. To be called before the task is submitted. If there is no thread for the timer, throws.
     */
    protected final void limit(Duration timeout) {
        limit(timeout, false);
    }

    private void limit(Duration timeout, boolean isOfRun) {
        DisposableHandle timer = task.limit(Timeout.millis(timeout), () -> timeOut(timeout, isOfRun));
        var unused = whenComplete((value, e) -> timer.dispose());
    }

    private void timeOut(Duration timeout, boolean isOfRun) {
        Throwable late = task.timeOut(timeout, isOfRun);
        if (late == null) return;
        interruptLate();
        completeExceptionally(late);
    }

    /** The task may run, and its time is over: this completes next. */
    protected void interruptLate() {}

    /** The task in its scheduler. */
    protected final StageTask task() {
        return task;
    }

    /** Runs the action; a call of {@link #actionEnded} must follow. */
    protected abstract void run(A action);

    /** The scheduler or the executor has completed this, so the action never begins. */
    void actionDropped(A action) {}

    private void begin() {
        if (isWaiting()) new StartCommand().submit();
    }

    private void run() {
        A mine = takeAction();
        if (mine == null) return;
        if (runTimeout != null) {
            try {
                limit(runTimeout, true);
            } catch (Throwable e) { // There is no thread for the timer.
                actionEnded(null, e);
                return;
            }
        }
        run(mine);
    }

    private void rejected(Throwable why) {
        A dropped = takeAction();
        if (dropped == null) return;
        CallerContext.runFor(dropped, () -> actionEnded(null, why));
        actionDropped(dropped);
    }

    /** Returns the action to the thread that ends the wait, null to all others. */
    private @Nullable A takeAction() {
        return tryBegin() ? clearAction() : null;
    }

    private @Nullable A clearAction() {
        A cleared = action;
        action = null;
        return cleared;
    }

    @Override
    protected String call() {
        return task.getLabel();
    }

    @Override
    protected String description() {
        return task.toString();
    }

    @Override
    protected final void actionEnded(@Nullable T value, @Nullable Throwable failure) {
        if (!task.ended(failure)) return; // the thread of the timeout completes this
        if (getNumberOfDependents() > 0) {
            completesNext();
            endAfterStage(value, failure);
        } else {
            if (failure == null) succeed(value);
            else fail(failure);
            task.completed();
        }
    }

    /**
     * This completes next. Then the task counts as ended, before the dependents run: they may wait for the end of all
     * tasks. The dependent that was added last is the first to run.
     */
    private void completesNext() {
        var unused = whenComplete((value, e) -> task.completed());
    }

    @Override
    protected final void withdraw() {
        if (isDone()) return;
        completesNext();
        if (!tryWithdraw()) return;
        var unused = clearAction();
        task.withdraw();
    }

    /** The calls of the scheduler. */
    private final class Owner implements StageTask.Owner {
        @Override
        public void begin() {
            TaskFuture.this.begin();
        }

        @Override
        public void refused(Throwable why) {
            A dropped = takeAction();
            if (dropped == null) return;
            completesNext();
            CallerContext.runFor(dropped, () -> fail(why));
            actionDropped(dropped);
        }

        @Override
        public void cancelled(Throwable why) {
            A dropped = action;
            cancel(true);
            if (dropped != null) actionDropped(dropped);
        }

        @Override
        public boolean isDone() {
            return TaskFuture.this.isDone();
        }
    }

    /**
     * The command that the executor gets. It gets it at once, however deep the stack is, because the submitting thread
     * may block until the task has ended. On an executor that runs commands in place, each task runs on the stack of
     * the task before it; a command at too deep a stack is submitted again by a callback thread.
     */
    private final class StartCommand implements Runnable {
        private final Thread submitter = Thread.currentThread();

        /** Written and read by the submitter alone. */
        private boolean isSubmitted;

        void submit() {
            try {
                executor.execute(this);
            } catch (Throwable e) {
                // The next task may be rejected as well, on the same stack.
                CallbackExecutor.run(null, () -> rejected(e));
            } finally {
                isSubmitted = true;
            }
        }

        @Override
        public void run() {
            boolean isInPlace = Thread.currentThread() == submitter && !isSubmitted;
            if (!isInPlace) {
                TaskFuture.this.run();
            } else if (Trampoline.enter()) {
                try {
                    TaskFuture.this.run();
                } finally {
                    Trampoline.leave();
                }
            } else {
                CallbackExecutor.ELSEWHERE.execute(TaskFuture.this::begin);
            }
        }
    }
}
