package baton.interop;

import baton.Priority;
import baton.bridge.SyncBridge;
import baton.interop.internal.blocking.ThreadCountdown;
import baton.interop.internal.futures.DrainFuture;
import baton.interop.internal.futures.TaskExecutor;
import baton.scheduler.TaskScheduler;
import baton.scheduler.TaskSchedulerMetrics;
import baton.scheduler.bridge.StageTasks;
import baton.sync.Latch;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A {@link TaskScheduler} for Java: runs tasks, the most urgent first, and a limited number at a time. A task is a
 * supplier of a stage, a {@link Callable} or a {@link Runnable}; scheduling it returns a {@link ScheduledTaskFuture}.
 *
 * <pre>{@code
 * AsyncTaskScheduler scheduler = AsyncTaskScheduler.create(3);
 * CompletableFuture<Token> token = scheduler.schedule(Priority.CRITICAL, () -> client.refreshToken());
 * ScheduledTaskFuture<Page> page = scheduler.schedule(Priority.LOW, () -> client.prefetch(url));
 * page.priority(Priority.HIGH); // the user opened it
 * page.cancel(true); // leaves the queue at once, or cancels the request that runs
 * }</pre>
 *
 * <p>It has no state of its own: Java tasks and Kotlin coroutines of the same scheduler wait in one queue. No method
 * but {@link #close()} and {@link #close(Duration)} blocks; {@link #blocking()} is for threads that may.
 *
 * <p><i>Bound.</i> At most {@link #maxConcurrency} tasks have begun and not ended. A task of a supplier ends when its
 * stage has completed, not when the supplier returns.
 *
 * <p><i>Order.</i> The most urgent level first, within the bounds of the {@code PriorityPolicy}; inside a level in the
 * order of scheduling. Waiting for a Java task does not boost it, unlike awaiting a {@code ScheduledTask} in Kotlin.
 *
 * <p><i>Cancellation.</i> Cancelling the future, completing it from outside, or letting {@code orTimeout} expire
 * removes a waiting task from the queue at once, and the task never runs. Once it runs, each of these cancels its
 * stage, if that is possible, and the slot of the task is free when the stage has completed; a callable runs to its
 * end. Cancelling the scope of a Kotlin scheduler cancels all its Java tasks in the same way; the scope completes when
 * their work has ended.
 *
 * <p><i>Failures.</i> An exception of a task, or the failure of its stage, arrives in its future unwrapped, and reaches
 * the listener of {@link AsyncTaskSchedulerBuilder#onFailure}; without one, a failure whose future has no reader is lost. A task that
 * is refused fails with {@code TaskRejectedException}, {@code TaskShedException}, {@code TaskDeadlineException} or
 * {@code SchedulerClosedException}, and one that takes too long with {@code TaskTimeoutException}, see {@link
 * TaskOptions}; no method throws because of the state of the scheduler.
 *
 * <p><i>Threads.</i> Tasks run on the executor of this object or of their {@link TaskOptions}; dependents of a future
 * run where its task ended. The default executor is the common pool, or {@code Dispatchers.IO} if that pool has no
 * thread. The common pool has few threads, so give tasks that block an executor of their own. Each task is one {@code
 * execute}, called by the thread that schedules it or that frees the slot. If an executor runs commands in place and
 * the stack is too deep, another thread passes the command to it.
 *
 * <p><i>Misuse.</i> A task that joins another task of the same scheduler, or waits for a command that it has given to
 * an {@link #executor} of it, keeps its slot meanwhile: if all running tasks do that, none goes on.
 *
 * <p><i>Memory.</i> Actions before a {@code schedule} happen before the task; the task happens before the actions that
 * follow its future, and before the end of a {@link #drain}.
 *
 * <p>All members may be called from any thread.
 */
public final class AsyncTaskScheduler implements AutoCloseable {
    private final TaskScheduler scheduler;
    private final Executor executor;

    private AsyncTaskScheduler(TaskScheduler scheduler, Executor executor) {
        this.scheduler = scheduler;
        this.executor = executor;
    }

    /** The Java API of the given scheduler; tasks scheduled here run on the common pool. */
    public static AsyncTaskScheduler of(TaskScheduler scheduler) {
        return of(scheduler, AsyncTaskSchedulerBuilder.defaultExecutor());
    }

    /**
     * The Java API of the given scheduler; tasks scheduled here run on {@code executor}.
     *
     * @param executor gets each task as one command, once the task has its slot. {@code execute} is called by the
     *     scheduling thread, or else by the thread that frees the slot: an executor that captures the context of its
     *     caller (a logging context, an identity) captures that thread's. Enable {@link ContextPropagation}, or capture
     *     such a context in the task, instead. A command that the executor rejects fails its task. A command that it
     *     accepts and then drops, as a pool does on {@code shutdownNow} and with a {@code DiscardPolicy}, keeps its
     *     slot until the task's future is cancelled or completed
     * @throws IllegalArgumentException if {@code executor} is an {@link #executor} of the same scheduler
     */
    public static AsyncTaskScheduler of(TaskScheduler scheduler, Executor executor) {
        Objects.requireNonNull(scheduler, "scheduler");
        Objects.requireNonNull(executor, "executor");
        return new AsyncTaskScheduler(scheduler, TaskExecutor.notOf(scheduler, executor));
    }

    /**
     * A new scheduler.
     *
     * @throws IllegalArgumentException if {@code maxConcurrency} is below 1
     */
    public static AsyncTaskScheduler create(int maxConcurrency) {
        return builder(maxConcurrency).build();
    }

    /** As {@link #create(int)}, with a name for messages and {@code toString}; null for none. */
    public static AsyncTaskScheduler create(int maxConcurrency, @Nullable String name) {
        return builder(maxConcurrency).name(name).build();
    }

    /**
     * A builder of a new scheduler, with further settings.
     *
     * @throws IllegalArgumentException if {@code maxConcurrency} is below 1
     */
    public static AsyncTaskSchedulerBuilder builder(int maxConcurrency) {
        return new AsyncTaskSchedulerBuilder(maxConcurrency);
    }

    /** The Kotlin scheduler behind this. */
    public TaskScheduler kotlin() {
        return scheduler;
    }

    /** A view of the same scheduler for threads that may block. */
    public BlockingTaskScheduler blocking() {
        return new BlockingTaskScheduler(scheduler);
    }

    /**
     * Runs {@code task} on the executor of this object once it has a slot. The future completes as the stage that
     * {@code task} must return.
     */
    public <T extends @Nullable Object, S extends CompletionStage<T>> ScheduledTaskFuture<T> schedule(
            Priority priority, Supplier<S> task) {
        return schedule(TaskOptions.of(priority), task);
    }

    /**
     * As {@link #schedule(Priority, Supplier)}, for a task that ends when it returns. Its value, or the exception that
     * it throws, is that of the future. A lambda that does nothing but throw fits the supplier of a stage, too, and the
     * compiler prefers that: for a checked exception, cast it to {@code Callable}.
     */
    public <T extends @Nullable Object> ScheduledTaskFuture<T> schedule(Priority priority, Callable<T> task) {
        return schedule(TaskOptions.of(priority), task);
    }

    /** As {@link #schedule(Priority, Callable)}, for a task without a value. */
    public ScheduledTaskFuture<@Nullable Void> schedule(Priority priority, Runnable task) {
        return schedule(TaskOptions.of(priority), task);
    }

    /**
     * As {@link #schedule(Priority, Supplier)}, with further options.
     *
     * @throws IllegalArgumentException if the executor of the options is an {@link #executor} of this scheduler
     */
    public <T extends @Nullable Object, S extends CompletionStage<T>> ScheduledTaskFuture<T> schedule(
            TaskOptions options, Supplier<S> task) {
        Objects.requireNonNull(options, "options");
        Objects.requireNonNull(task, "task");
        return ScheduledTaskFuture.ofStage(scheduler, options, task, executorOf(options));
    }

    /** As {@link #schedule(Priority, Callable)}, with further options. */
    public <T extends @Nullable Object> ScheduledTaskFuture<T> schedule(TaskOptions options, Callable<T> task) {
        Objects.requireNonNull(options, "options");
        Objects.requireNonNull(task, "task");
        return ScheduledTaskFuture.of(scheduler, options, task, executorOf(options));
    }

    /** As {@link #schedule(Priority, Runnable)}, with further options. */
    @SuppressWarnings("NullAway") // NullAway does not know that a Void may be null
    public ScheduledTaskFuture<@Nullable Void> schedule(TaskOptions options, Runnable task) {
        Objects.requireNonNull(options, "options");
        Objects.requireNonNull(task, "task");
        return ScheduledTaskFuture.of(scheduler, options, Executors.callable(task, null), executorOf(options));
    }

    private Executor executorOf(TaskOptions options) {
        Executor other = options.executor();
        return other == null ? executor : TaskExecutor.notOf(scheduler, other);
    }

    /**
     * An executor that runs commands as tasks of this scheduler at that level: each counts towards {@link
     * #maxConcurrency} and runs on the executor of this object. A shutdown ends the returned executor alone, not the
     * scheduler; it has terminated when the slots of its commands are free. With {@link ContextPropagation}, a command
     * runs in the context of the thread that submitted it.
     *
     * <p>A future of {@code submit} that is cancelled while it waits leaves the queue at once. (A future that {@code
     * invokeAny} cancels stays in the queue until it has a slot, and does nothing then.)
     *
     * <p>If the scheduler refuses a command at once, {@code execute} throws {@code RejectedExecutionException}. A
     * command that is dropped later, because it is shed or the scheduler is closed, never runs. If it is a future, as
     * those of {@code submit} are, it is cancelled; any other is reported as a {@code RejectedExecutionException} to
     * the uncaught exception handler of the thread that drops it. The future of a {@code supplyAsync} or {@code
     * thenApplyAsync} whose command is dropped never completes: if the scheduler may drop tasks, give such work to
     * {@link #schedule} instead.
     */
    public ExecutorService executor(Priority priority) {
        return new TaskExecutor(this, executor, Objects.requireNonNull(priority, "priority"));
    }

    /** The number of tasks that may run at a time. */
    public int maxConcurrency() {
        return scheduler.getMaxConcurrency();
    }

    /**
     * Changes the number of tasks that may run at a time. A greater number starts more at once; a smaller one stops no
     * running task.
     *
     * @throws IllegalArgumentException if {@code maxConcurrency} is below 1
     */
    public void maxConcurrency(int maxConcurrency) {
        scheduler.setMaxConcurrency(maxConcurrency);
    }

    /** Starts no task until {@link #resume}; running tasks go on. A second pause changes nothing. */
    public void pause() {
        scheduler.pause();
    }

    /** Starts as many waiting tasks as may run. */
    public void resume() {
        scheduler.resume();
    }

    /**
     * Cancels the tasks with this key that have not ended, queued or running, and those of Kotlin callers too.
     *
     * @return how many there were
     */
    public int cancel(Object key) {
        return scheduler.cancel(Objects.requireNonNull(key, "key"), null);
    }

    /**
     * Refuses further tasks; the future completes when all tasks have ended, queued ones included, and their futures are
     * done; dependents of these may still run. While the scheduler
     * is paused, queued tasks and so the future wait. Cancelling the future has no effect on the scheduler.
     */
    public CompletableFuture<@Nullable Void> drain() {
        return DrainFuture.of(scheduler);
    }

    /**
     * Refuses further tasks and waits until all tasks have ended and their futures are done, as {@code
     * ExecutorService.close()} of newer JDKs does: queued ones are run. Dependents of the futures may still run, and may
     * call this. While the scheduler is paused, queued tasks and so this call wait. If the thread is
     * interrupted, queued tasks are dropped as by {@link #closeNow()}; the call waits for those that run, and the
     * thread stays interrupted.
     *
     * <p>A task that calls this waits for itself.
     */
    @Override
    public void close() {
        Latch allEnded = StageTasks.beginDrain(scheduler);
        ThreadCountdown ended = new ThreadCountdown(SyncBridge.of(allEnded), allEnded::getCount, scheduler);
        try {
            ended.await();
        } catch (InterruptedException e) {
            closeNow();
            ended.awaitUninterruptibly();
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Closes the scheduler at once and for good: waiting and later tasks fail with {@code SchedulerClosedException}.
     * Running tasks go on; the future of {@link #drain} completes when they have ended.
     */
    public void closeNow() {
        scheduler.close(null);
    }

    /** As {@link #closeNow()}, with a cause for the exceptions. */
    public void closeNow(Throwable cause) {
        scheduler.close(Objects.requireNonNull(cause, "cause"));
    }

    /**
     * As {@link #close()}, but waits {@code timeout} at most; then queued tasks are dropped as by {@link #closeNow()},
     * and those that run go on. An interrupt ends the wait in the same way, and the thread stays interrupted.
     *
     * @return whether all tasks have ended
     * @throws IllegalStateException if the scheduler has a clock for which no thread can wait; nothing has changed
     */
    public boolean close(Duration timeout) {
        Objects.requireNonNull(timeout, "timeout");
        StageTasks.requireReal(scheduler);
        Latch allEnded = StageTasks.beginDrain(scheduler);
        try {
            if (new ThreadCountdown(SyncBridge.of(allEnded), allEnded::getCount, scheduler).await(timeout)) return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        closeNow();
        return allEnded.getCount() == 0;
    }

    /**
     * The future completes at the next moment without tasks: none runs, is queued, or waits for capacity, and the
     * futures of all that have ended are done. New tasks are
     * taken as ever. While the scheduler is paused, queued tasks and so the future wait. Cancelling the future has no
     * effect on the scheduler.
     */
    public CompletableFuture<@Nullable Void> awaitIdle() {
        return DrainFuture.idle(scheduler);
    }

    /**
     * Cancels all tasks that wait, those of Kotlin callers too: their futures are cancelled. Running tasks go on, and new
     * ones are taken.
     *
     * @return how many there were
     */
    public int clear() {
        return scheduler.clear();
    }

    /** A snapshot of its metrics. */
    public TaskSchedulerMetrics metrics() {
        return scheduler.getMetrics();
    }

    @Override
    public String toString() {
        return "Async" + scheduler;
    }
}
