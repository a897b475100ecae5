package baton.interop.internal.futures;

import baton.Priority;
import baton.scheduler.TaskScheduler;
import baton.scheduler.bridge.StageTask;
import baton.scheduler.bridge.StageTasks;
import baton.waiting.coroutine.Trampoline;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A task of a scheduler, as the future of its caller: waits for one of the scheduler's places, runs on its executor as
 * one command, gives the place back when it has ended, and completes.
 *
 * <p>The place is free before this is completed. So the task that gets the place is on its way to its own executor when
 * the dependents of this run, and they may block until it has ended, too.
 *
 * @param <A> what it does
 */
public abstract class TaskFuture<T extends @Nullable Object, A> extends StageFuture<T> implements StageTask.Owner {
    private final StageTask task;
    private final Executor executor;

    /** Let go as soon as it is not needed: a future may be kept for its value. Whoever ends the waiting takes it. */
    private @Nullable A action;

    TaskFuture(TaskScheduler scheduler, Priority priority, Executor executor, A action) {
        this.task = StageTasks.newStageTask(scheduler, priority, this);
        this.executor = executor;
        this.action = action;
    }

    /** A call that ends when {@code action} returns. */
    public static <T extends @Nullable Object> TaskFuture<T, ?> of(
            TaskScheduler scheduler, Priority priority, Executor executor, Callable<? extends T> action) {
        return new TaskFuture<T, Callable<? extends T>>(scheduler, priority, executor, action) {
            @Override
            void act(Callable<? extends T> action) {
                T value = null;
                Throwable failure = null;
                try {
                    value = action.call();
                } catch (Throwable e) {
                    failure = Stages.unwrap(e);
                }
                ended(value, failure);
            }
        };
    }

    /** A call that ends when the stage of {@code action} does. */
    public static <T extends @Nullable Object> TaskFuture<T, ?> ofStage(
            TaskScheduler scheduler,
            Priority priority,
            Executor executor,
            Supplier<? extends CompletionStage<T>> action) {
        return new TaskFuture<T, Supplier<? extends CompletionStage<T>>>(scheduler, priority, executor, action) {
            @Override
            void act(Supplier<? extends CompletionStage<T>> action) {
                perform(action);
            }
        };
    }

    /** To be called once, by whoever made it. */
    public final CompletableFuture<T> submit() {
        task.submit();
        return this;
    }

    /** Does it; {@link #ended} must follow. */
    abstract void act(A action);

    /** This has been completed, by the scheduler or the executor, so that {@code action} need not begin any more. */
    void dropped(A action) {}

    @Override
    public final void begin() {
        if (isWaiting()) new Start().send();
    }

    private void run() {
        A action = leave();
        if (action != null) act(action);
    }

    private void rejected(Throwable why) {
        A left = leave();
        if (left == null) return;
        ended(null, why);
        dropped(left);
    }

    /** What to do, for whoever ends the waiting; null if another has. */
    private @Nullable A leave() {
        return leaveToBegin() ? letGo() : null;
    }

    private @Nullable A letGo() {
        A left = action;
        action = null;
        return left;
    }

    @Override
    final void ended(@Nullable T value, @Nullable Throwable failure) {
        task.ended(failure);
        if (failure == null) succeed(value);
        else fail(failure);
    }

    @Override
    public final void refused(Throwable why) {
        A left = leave();
        if (left == null) return;
        fail(why);
        dropped(left);
    }

    @Override
    public final void cancelled(Throwable why) {
        A left = action;
        cancel(true);
        if (left != null) dropped(left);
    }

    @Override
    public final void withdraw() {
        if (!leaveWithdrawn()) return;
        var unused = letGo();
        task.withdraw();
    }

    /**
     * What the executor gets, at once, however deep the stack is: the thread that sends it may block until the task has
     * ended. An executor that runs it in place has deep ones sent again from elsewhere, for each task stands on the one
     * that it follows.
     */
    private final class Start implements Runnable {
        private final Thread sender = Thread.currentThread();

        /** Written and read by the sender alone. */
        private boolean isSent;

        void send() {
            try {
                executor.execute(this);
            } catch (Throwable e) {
                // The next task may be rejected as well, and stands on this one.
                CallbackExecutor.run(null, () -> rejected(e));
            } finally {
                isSent = true;
            }
        }

        @Override
        public void run() {
            boolean isInPlace = Thread.currentThread() == sender && !isSent;
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
