package baton.interop;

import baton.Priority;
import baton.interop.internal.futures.TaskExecutor;
import baton.interop.internal.futures.TaskFuture;
import baton.scheduler.TaskScheduler;
import baton.scheduler.TaskSchedulerMetrics;
import baton.scheduler.bridge.StageTasks;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A {@link TaskScheduler} for Java: runs tasks, the most urgent first, and only so many at a time. A task is a call
 * that returns a stage, or a plain {@link Callable}; the caller gets a {@link CompletableFuture}.
 *
 * <pre>{@code
 * AsyncTaskScheduler scheduler = AsyncTaskScheduler.create(3);
 * CompletableFuture<Token> token = scheduler.schedule(Priority.CRITICAL, () -> client.refreshToken());
 * CompletableFuture<Page> page = scheduler.schedule(Priority.LOW, () -> client.prefetch(url));
 * page.cancel(true); // leaves the queue at once, or cancels the request that runs
 * }</pre>
 *
 * <p>It has no state of its own: Java tasks and Kotlin coroutines of the same scheduler stand in one queue. No method
 * blocks.
 *
 * <p><i>Bound.</i> At most {@link #maxConcurrency} tasks have begun and not ended. A task of a supplier ends when its
 * stage has completed, not when the supplier returns.
 *
 * <p><i>Order.</i> The most urgent level first, as the {@code PriorityPolicy} bounds it; inside a level first come,
 * first served. Waiting for a Java task does not boost it; awaiting a {@code ScheduledTask} in Kotlin does.
 *
 * <p><i>Cancellation.</i> Cancelling the future, completing it from outside, or letting {@code orTimeout} expire
 * takes a task that waits out of the queue at once, and it never runs. Once it runs, {@code cancel} cancels its
 * stage, if that can be cancelled, and its place is free when the stage has ended; a callable runs to its end.
 * Cancelling the scope of a Kotlin scheduler cancels all its Java tasks so, but does not wait for them.
 *
 * <p><i>Failures.</i> What a task throws, or its stage fails with, arrives in its future as itself. A task that is
 * refused fails with {@code TaskRejectedException}, {@code TaskShedException} or {@code SchedulerClosedException}; no
 * method throws because of the state of the scheduler.
 *
 * <p><i>Threads.</i> Suppliers run on the executor of this face; dependents of the future where its task ended. Unless
 * another executor is given, it is the common pool, or {@code Dispatchers.IO} where that pool has no thread. The common
 * pool has few threads: tasks that block should have an executor of their own. Each task is one {@code execute}, called by the thread that schedules or that frees
 * the place. Where an executor runs commands in place, deep ones are given to it from another thread.
 *
 * <p><i>Memory.</i> What happens before a {@code schedule} happens before the task; the task happens before what
 * follows its future, and before the end of a {@link #drain}.
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

    /** The Java face of that very scheduler; what Java schedules here runs on the common pool. */
    public static AsyncTaskScheduler of(TaskScheduler scheduler) {
        return of(scheduler, AsyncTaskSchedulerBuilder.defaultExecutor());
    }

    /**
     * The Java face of that very scheduler; what Java schedules here runs on {@code executor}.
     *
     * @param executor gets each task as one command, once the task has its place. {@code execute} is called by the
     *     thread that schedules, or else by the one that frees the place: an executor that captures the context of its
     *     caller (a logging context, an identity) captures that thread's. Capture such a context in the task instead.
     *     A command that the executor rejects fails its task. A command that it takes and then drops, as a pool does on
     *     {@code shutdownNow} and with a {@code DiscardPolicy}, keeps its place until the task's future is cancelled or
     *     completed
     */
    public static AsyncTaskScheduler of(TaskScheduler scheduler, Executor executor) {
        return new AsyncTaskScheduler(
                Objects.requireNonNull(scheduler, "scheduler"), Objects.requireNonNull(executor, "executor"));
    }

    /**
     * A new scheduler.
     *
     * @throws IllegalArgumentException if {@code maxConcurrency} is below 1
     */
    public static AsyncTaskScheduler create(int maxConcurrency) {
        return builder(maxConcurrency).build();
    }

    /**
     * A new scheduler of which more is to be said.
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

    /**
     * Has {@code task} run when it is its turn. The future completes as the stage does, which {@code task} must return.
     */
    public <T extends @Nullable Object> CompletableFuture<T> schedule(
            Priority priority, Supplier<? extends CompletionStage<T>> task) {
        Objects.requireNonNull(task, "task");
        Objects.requireNonNull(priority, "priority");
        return TaskFuture.ofStage(scheduler, priority, executor, task).submit();
    }

    /**
     * Has {@code task} run by {@code executor} when it is its turn.
     *
     * <p>Its place is free when the call has returned. So a callable that returns a stage gives the place back before
     * that stage has completed, and the stage itself is what arrives in the future: give such a call as a supplier,
     * to {@link #schedule(Priority, Supplier)}. That runs it on the executor of this face; {@link #of(TaskScheduler,
     * Executor)} makes another face of the same scheduler.
     *
     * @param executor as for {@link #of(TaskScheduler, Executor)}
     */
    public <T extends @Nullable Object> CompletableFuture<T> schedule(
            Priority priority, Callable<? extends T> task, Executor executor) {
        Objects.requireNonNull(task, "task");
        Objects.requireNonNull(executor, "executor");
        Objects.requireNonNull(priority, "priority");
        return TaskFuture.<T>of(scheduler, priority, executor, task).submit();
    }

    /**
     * An executor of this scheduler's tasks at that level: each command counts towards {@link #maxConcurrency} and
     * runs on the executor of this face. Shutting it down ends it alone, not the scheduler; it has terminated when the
     * places of its commands are free.
     *
     * <p>A future of {@code submit} that is cancelled while it waits leaves the queue at once. (One that {@code invokeAny}
     * cancels keeps its place until its turn, and does nothing then.)
     *
     * <p>When the scheduler refuses a command, {@code execute} throws {@code RejectedExecutionException} if that is known
     * at once. A command that is dropped later, because it is shed, or the scheduler is closed, never runs: if it is a
     * future, as those of {@code submit} are, it is cancelled; any other is reported as a
     * {@code RejectedExecutionException} to the uncaught exception handler of the thread that drops it. Nothing can
     * complete the future of a {@code supplyAsync} or {@code thenApplyAsync} whose command is dropped: where the
     * scheduler may drop, give such work to {@link #schedule} instead.
     */
    public ExecutorService executor(Priority priority) {
        return new TaskExecutor(this, executor, Objects.requireNonNull(priority, "priority"));
    }

    /** How many tasks may run. */
    public int maxConcurrency() {
        return scheduler.getMaxConcurrency();
    }

    /**
     * Changes how many tasks may run. A greater number starts more at once; a smaller one takes nothing from those
     * that run.
     *
     * @throws IllegalArgumentException if {@code maxConcurrency} is below 1
     */
    public void maxConcurrency(int maxConcurrency) {
        scheduler.setMaxConcurrency(maxConcurrency);
    }

    /** Starts nothing until {@link #resume}; what runs goes on. To pause twice changes nothing. */
    public void pause() {
        scheduler.pause();
    }

    /** Starts at once as many as may run. */
    public void resume() {
        scheduler.resume();
    }

    /**
     * Ends the intake; the future completes when all tasks have ended, queued ones included. While the scheduler is
     * paused it waits. Cancelling the future changes nothing but the future.
     */
    public CompletableFuture<@Nullable Void> drain() {
        return AsyncLatch.of(StageTasks.beginDrain(scheduler)).await();
    }

    /**
     * Ends the intake for good: queued tasks, and tasks that are scheduled from now on, fail with
     * {@code SchedulerClosedException}. Running tasks go on; {@link #drain} completes when they have ended.
     */
    @Override
    public void close() {
        scheduler.close(null);
    }

    /** As {@link #close()}, with a cause for the exceptions. */
    public void close(Throwable cause) {
        scheduler.close(Objects.requireNonNull(cause, "cause"));
    }

    /** A snapshot of what it does. */
    public TaskSchedulerMetrics metrics() {
        return scheduler.getMetrics();
    }

    @Override
    public String toString() {
        return "Async" + scheduler;
    }
}
