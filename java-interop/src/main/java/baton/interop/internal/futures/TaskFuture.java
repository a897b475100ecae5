package baton.interop.internal.futures;

import baton.Priority;
import baton.scheduler.TaskScheduler;
import baton.scheduler.bridge.StageTask;
import baton.scheduler.bridge.StageTasks;
import baton.waiting.threads.Trampoline;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
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
public abstract class TaskFuture<T extends @Nullable Object, A> extends StageFuture<T> implements StageTask.Owner {
    private final StageTask task;
    private final Executor executor;

    /** Cleared by the thread that ends the wait, because the future may be kept for its value. */
    private @Nullable A action;

    TaskFuture(TaskScheduler scheduler, Priority priority, Executor executor, A action) {
        this.task = StageTasks.newStageTask(scheduler, priority, this);
        this.executor = executor;
        this.action = action;
    }

    /** A task that ends when the action returns. */
    public static <T extends @Nullable Object> TaskFuture<T, ?> of(
            TaskScheduler scheduler, Priority priority, Executor executor, Callable<? extends T> action) {
        return new TaskFuture<T, Callable<? extends T>>(scheduler, priority, executor, action) {
            @Override
            void run(Callable<? extends T> action) {
                T value = null;
                Throwable failure = null;
                try {
                    value = action.call();
                } catch (Throwable e) {
                    failure = Stages.unwrap(e);
                }
                actionEnded(value, failure);
            }
        };
    }

    /** A task that ends when the stage of the action has completed. */
    public static <T extends @Nullable Object> TaskFuture<T, ?> ofStage(
            TaskScheduler scheduler,
            Priority priority,
            Executor executor,
            Supplier<? extends CompletionStage<T>> action) {
        return new TaskFuture<T, Supplier<? extends CompletionStage<T>>>(scheduler, priority, executor, action) {
            @Override
            void run(Supplier<? extends CompletionStage<T>> action) {
                runAction(action);
            }
        };
    }

    /** Submits the task to its scheduler; to be called once. */
    public final CompletableFuture<T> submit() {
        task.submit();
        return this;
    }

    /** Runs the action; a call of {@link #actionEnded} must follow. */
    abstract void run(A action);

    /** The scheduler or the executor has completed this, so the action never begins. */
    void actionDropped(A action) {}

    @Override
    public final void begin() {
        if (isWaiting()) new StartCommand().submit();
    }

    private void run() {
        A mine = takeAction();
        if (mine != null) run(mine);
    }

    private void rejected(Throwable why) {
        A dropped = takeAction();
        if (dropped == null) return;
        actionEnded(null, why);
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
    final void actionEnded(@Nullable T value, @Nullable Throwable failure) {
        task.ended(failure);
        if (failure == null) succeed(value);
        else fail(failure);
    }

    @Override
    public final void refused(Throwable why) {
        A dropped = takeAction();
        if (dropped == null) return;
        fail(why);
        actionDropped(dropped);
    }

    @Override
    public final void cancelled(Throwable why) {
        A dropped = action;
        cancel(true);
        if (dropped != null) actionDropped(dropped);
    }

    @Override
    public final void withdraw() {
        if (!tryWithdraw()) return;
        var unused = clearAction();
        task.withdraw();
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
