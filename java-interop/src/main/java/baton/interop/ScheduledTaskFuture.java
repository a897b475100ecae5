package baton.interop;

import baton.Priority;
import baton.interop.internal.futures.CallerContext;
import baton.interop.internal.futures.TaskFuture;
import baton.scheduler.TaskScheduler;
import baton.scheduler.TaskState;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The future of a task of an {@link AsyncTaskScheduler}, with the {@link #state} and the {@link #priority()} of the
 * task.
 *
 * <pre>{@code
 * ScheduledTaskFuture<Page> page = scheduler.schedule(Priority.LOW, () -> client.prefetch(url));
 * page.priority(Priority.HIGH); // the user opened it
 * }</pre>
 *
 * <p>Dependent stages are ordinary futures. All methods may be called from any thread.
 */
@SuppressWarnings("exports") // users see the methods of this class alone
public final class ScheduledTaskFuture<T extends @Nullable Object> extends TaskFuture<T, Object> {
    /** Whether the action is a supplier of a stage; else it is a callable. */
    private final boolean givesStage;

    private ScheduledTaskFuture(
            TaskScheduler scheduler, TaskOptions options, Executor executor, Object action, boolean givesStage) {
        super(scheduler, options.priority(), options.key(), options.runTimeout(), executor, action);
        this.givesStage = givesStage;
    }

    /** A submitted task that ends when the stage of the action has completed. */
    static <T extends @Nullable Object> ScheduledTaskFuture<T> ofStage(
            TaskScheduler scheduler,
            TaskOptions options,
            Supplier<? extends CompletionStage<T>> action,
            Executor executor) {
        return new ScheduledTaskFuture<T>(scheduler, options, executor, CallerContext.bound(action), true)
                .submitted(options.deadline(), options.timeout());
    }

    /** A submitted task that ends when the action returns. */
    static <T extends @Nullable Object> ScheduledTaskFuture<T> of(
            TaskScheduler scheduler, TaskOptions options, Callable<T> action, Executor executor) {
        return new ScheduledTaskFuture<T>(scheduler, options, executor, CallerContext.bound(action), false)
                .submitted(options.deadline(), options.timeout());
    }

    private ScheduledTaskFuture<T> submitted(@Nullable Duration deadline, @Nullable Duration timeout) {
        if (timeout != null) limit(timeout);
        if (deadline == null) submit();
        else submit(deadline);
        return this;
    }

    @Override
    @SuppressWarnings("unchecked") // as the action was given
    protected void run(Object action) {
        if (action instanceof CallerContext.Bound bound) bound.context().run(() -> run(bound.action()));
        else if (givesStage) runAction((Supplier<? extends CompletionStage<T>>) action);
        else runCallable((Callable<T>) action);
    }

    /** Whether the task is queued, runs or is done. It is done once this future has completed. */
    public TaskState state() {
        if (isDone()) return TaskState.DONE;
        return task().isQueued() ? TaskState.QUEUED : TaskState.RUNNING;
    }

    /** The level of the task. */
    public Priority priority() {
        return task().getPriority();
    }

    /** Changes the level. A queued task moves to the tail of its new level, in O(1); one that runs is not affected. */
    public void priority(Priority priority) {
        task().setPriority(Objects.requireNonNull(priority, "priority"));
    }

    /** The key of its {@link TaskOptions}. */
    public Optional<Object> key() {
        return Optional.ofNullable(task().getKey());
    }

    // Kotlin's compiler refuses calls of methods that are declared in a package which is not exported.

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        return super.cancel(mayInterruptIfRunning);
    }

    @Override
    public boolean complete(T value) {
        return super.complete(value);
    }

    @Override
    public boolean completeExceptionally(Throwable cause) {
        return super.completeExceptionally(cause);
    }

    @Override
    public CompletableFuture<T> orTimeout(long timeout, TimeUnit unit) {
        return super.orTimeout(timeout, unit);
    }

    @Override
    public CompletableFuture<T> completeOnTimeout(T value, long timeout, TimeUnit unit) {
        return super.completeOnTimeout(value, timeout, unit);
    }

    @Override
    public CompletableFuture<T> completeAsync(Supplier<? extends T> supplier, Executor executor) {
        return super.completeAsync(supplier, executor);
    }

    @Override
    public CompletableFuture<T> completeAsync(Supplier<? extends T> supplier) {
        return super.completeAsync(supplier);
    }

    @Override
    public void obtrudeValue(T value) {
        super.obtrudeValue(value);
    }

    @Override
    public void obtrudeException(Throwable cause) {
        super.obtrudeException(cause);
    }

    /** The task, its level and its scheduler, and how it has ended if it has. */
    @Override
    public String toString() {
        return super.toString();
    }

    @Override
    public <U extends @Nullable Object> CompletableFuture<U> newIncompleteFuture() {
        return super.newIncompleteFuture();
    }
}
