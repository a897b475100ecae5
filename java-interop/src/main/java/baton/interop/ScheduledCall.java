package baton.interop;

import baton.Priority;
import baton.scheduler.TaskScheduler;
import baton.scheduler.stages.StageTask;
import baton.scheduler.stages.StageTasks;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A task of a scheduler, as the future of whoever scheduled it: waits for one of the scheduler's places, runs on its
 * executor in a {@link TaskRow}, gives the place back when it has ended, and completes.
 *
 * <p>The place is free before this is completed. So what gets the place is known when the dependents of this run, and
 * they may block until it has run, too: it must not wait for this thread then. Therefore nothing follows here on a call
 * that has dependents; see {@link #isFollowedBy}.
 *
 * @param <A> what it does
 */
abstract class ScheduledCall<T extends @Nullable Object, A> extends StageCall<T> implements StageTask.Owner {
    private static final VarHandle ROW;

    static {
        try {
            ROW = MethodHandles.lookup().findVarHandle(ScheduledCall.class, "row", TaskRow.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Stands for: dependents have come, or may come any moment. No row: nothing ever follows in it. */
    private static final TaskRow WATCHED = new TaskRow(Runnable::run, null);

    private final StageTask task;
    private final Executor executor;

    /** Let go as soon as it is not needed: a future may be kept for its value. Whoever ends the waiting takes it. */
    private @Nullable A action;

    /** In which it runs, while it does; or WATCHED. */
    private volatile @Nullable TaskRow row;

    /** In which this is to follow another; kept after that. */
    private volatile @Nullable TaskRow behind;

    ScheduledCall(TaskScheduler scheduler, Priority priority, Executor executor, A action) {
        this.task = StageTasks.newStageTask(scheduler, priority, this);
        this.executor = executor;
        this.action = action;
    }

    /** A call that ends when {@code action} returns. */
    static <T extends @Nullable Object> ScheduledCall<T, ?> of(
            TaskScheduler scheduler, Priority priority, Executor executor, Callable<? extends T> action) {
        return new ScheduledCall<T, Callable<? extends T>>(scheduler, priority, executor, action) {
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
    static <T extends @Nullable Object> ScheduledCall<T, ?> ofStage(
            TaskScheduler scheduler,
            Priority priority,
            Executor executor,
            Supplier<? extends CompletionStage<T>> action) {
        return new ScheduledCall<T, Supplier<? extends CompletionStage<T>>>(scheduler, priority, executor, action) {
            @Override
            void act(Supplier<? extends CompletionStage<T>> action) {
                perform(action);
            }
        };
    }

    /** To be called once, by whoever made it. */
    final CompletableFuture<T> submit() {
        task.submit();
        return this;
    }

    /** Does it; {@link #ended} must follow. */
    abstract void act(A action);

    /** This has been completed, by the scheduler or the executor, so that {@code action} need not begin any more. */
    void dropped(A action) {}

    @Override
    public final void begin() {
        if (!isWaiting()) return;
        try {
            executor.execute(new TaskRow(executor, this));
        } catch (Throwable e) {
            A left = leave();
            if (left == null) return;
            ended(null, e);
            dropped(left);
        }
    }

    /** In that row, on its thread. */
    final void runIn(TaskRow here) {
        A action = leave();
        if (action == null) return;
        ROW.compareAndSet(this, null, here);
        act(action);
        row = null;
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
    public final boolean begins(StageTask.Owner after) {
        return after instanceof ScheduledCall<?, ?> ended && ended.isFollowedBy(this);
    }

    /**
     * Whether {@code next} runs in the row of this one, which is about to be completed. Dependents may come meanwhile:
     * they say so before they come, and take {@code next} away if it is there by then. Those of {@code allOf} and
     * {@code anyOf} can only be counted; one that comes too late for that can still join {@code next}, see
     * {@link #comeForward}.
     */
    private boolean isFollowedBy(ScheduledCall<?, ?> next) {
        TaskRow here = row;
        if (here == null || !here.follow(next, next.executor)) return false;
        next.behind = here;
        boolean isWatched = row != here || getNumberOfDependents() > 0;
        return !isWatched || here.take() == null;
    }

    /** A dependent comes. */
    private void watched() {
        TaskRow here = (TaskRow) ROW.getAndSet(this, WATCHED);
        ScheduledCall<?, ?> next = here == null ? null : here.take();
        if (next != null) next.begin();
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
    final void withdraw() {
        if (!leaveWithdrawn()) return;
        var unused = letGo();
        task.withdraw();
    }

    /** Somebody is about to block until this has ended: perhaps on the very thread on which it is to follow. */
    private void comeForward() {
        TaskRow here = behind;
        if (here != null && !isDone() && here.take(this)) begin();
    }

    @Override
    public final T join() {
        comeForward();
        return super.join();
    }

    @Override
    public final T get() throws InterruptedException, ExecutionException {
        comeForward();
        return super.get();
    }

    @Override
    public final T get(long timeout, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
        comeForward();
        return super.get(timeout, unit);
    }

    // Every way to depend on this but allOf and anyOf comes by here before it depends.

    @Override
    public final <U extends @Nullable Object> CompletableFuture<U> newIncompleteFuture() {
        watched();
        return super.newIncompleteFuture();
    }

    @Override
    public final CompletableFuture<T> toCompletableFuture() {
        watched();
        return this;
    }

    @Override
    public final CompletionStage<T> minimalCompletionStage() {
        watched();
        return super.minimalCompletionStage();
    }
}
