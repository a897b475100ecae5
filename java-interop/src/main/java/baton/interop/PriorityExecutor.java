package baton.interop;

import baton.Priority;
import baton.interop.internal.futures.DispatcherExecutor;
import baton.scheduler.PriorityDispatcher;
import baton.scheduler.PriorityDispatchersKt;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.RunnableFuture;
import java.util.concurrent.TimeUnit;
import kotlinx.coroutines.Dispatchers;
import kotlinx.coroutines.ExecutorsKt;
import org.jspecify.annotations.Nullable;

/**
 * An {@link java.util.concurrent.ExecutorService} with a priority level: on one {@link PriorityDispatcher}, tasks of
 * executors with more urgent levels start first. Existing Java code gets five levels when it is given such an executor:
 *
 * <pre>{@code
 * PriorityExecutor normal = PriorityExecutor.over(pool, 4);
 * PriorityExecutor critical = normal.level(Priority.CRITICAL);
 * critical.submit(() -> refreshToken());
 * CompletableFuture.supplyAsync(() -> loadPage(), normal);
 * }</pre>
 *
 * <p><i>Order.</i> The order of the dispatcher: the most urgent level first, within the bounds of its policy; inside a
 * level first come, first served, for Java tasks and Kotlin coroutines alike. A more urgent task does not interrupt a
 * running one.
 *
 * <p><i>Bound.</i> The parallelism of the dispatcher bounds the number of running tasks of all levels together.
 *
 * <p><i>Cancellation.</i> Cancelling a future of {@code submit} while its task waits ends the future at once. The
 * task's entry stays in the dispatcher's queue, and a worker later skips it. {@code AsyncTaskScheduler} removes a
 * cancelled task from its queue at once.
 *
 * <p><i>Life.</i> It has no threads. Shutting it down ends this executor alone: not the dispatcher, not the underlying
 * executor, and not its other levels. It has terminated when all its tasks have ended. {@link #shutdownNow} drops the
 * waiting tasks, none of which begins after the call, returns them in their order, and interrupts the running tasks.
 *
 * <p><i>Failures.</i> An exception thrown by a task given to {@link #execute} goes to the thread's uncaught exception
 * handler.
 *
 * <p><i>Memory.</i> As {@link java.util.concurrent.ExecutorService} specifies.
 *
 * <p>All methods may be called from any thread.
 */
public final class PriorityExecutor extends AbstractExecutorService {
    private final PriorityDispatcher dispatcher;
    private final Priority priority;
    private final DispatcherExecutor commands;

    private PriorityExecutor(PriorityDispatcher dispatcher, Priority priority) {
        this.dispatcher = dispatcher;
        this.priority = priority;
        this.commands = new DispatcherExecutor(dispatcher, priority);
    }

    /**
     * A new executor at the level NORMAL, on threads that {@code Dispatchers.IO} adds for it: {@code parallelism} tasks
     * run at a time, even if all of them block and there are fewer processors.
     *
     * @param parallelism the number of tasks of all levels together that run at a time, at least 1
     * @throws IllegalArgumentException if {@code parallelism} is below 1
     */
    public static PriorityExecutor create(int parallelism) {
        int threads = Math.max(1, parallelism); // prioritized refuses a parallelism below 1
        return of(
                PriorityDispatchersKt.prioritized(Dispatchers.getIO().limitedParallelism(threads, null), parallelism));
    }

    /**
     * As {@link #create}, but on the threads of {@code executor}, which stays open when this one is shut down. With an
     * executor that runs commands on the caller's thread no task has to wait for its turn. Over an executor of another
     * {@link PriorityDispatcher} all tasks would have one level there. In that case use {@link #of}, with a view of
     * lower parallelism by the dispatcher's {@code limitedParallelism} if necessary.
     *
     * <p>A command that the executor rejects is not lost: it runs elsewhere. An executor that accepts a command and
     * then drops it, as a pool does on {@code shutdownNow} and with a {@code DiscardPolicy}, takes one of the {@code
     * parallelism} places with it for ever. Once the last place is lost, no task runs here any more, and no call
     * reports that. End this executor, and wait for its termination, before the pool underneath.
     *
     * @throws IllegalArgumentException if {@code parallelism} is below 1, or if {@code executor} belongs to a
     *     dispatcher that declares that it runs blocks at once, such as {@code Dispatchers.Unconfined}
     */
    public static PriorityExecutor over(Executor executor, int parallelism) {
        Objects.requireNonNull(executor, "executor");
        return of(PriorityDispatchersKt.prioritized(ExecutorsKt.from(executor), parallelism));
    }

    /** A new executor at the level NORMAL, on the given dispatcher itself. */
    public static PriorityExecutor of(PriorityDispatcher dispatcher) {
        return new PriorityExecutor(Objects.requireNonNull(dispatcher, "dispatcher"), Priority.NORMAL);
    }

    /** A new executor at the given level, on the same dispatcher; each is shut down by itself. */
    public PriorityExecutor level(Priority level) {
        return new PriorityExecutor(dispatcher, Objects.requireNonNull(level, "level"));
    }

    /** The level of the tasks of this executor. */
    public Priority priority() {
        return priority;
    }

    /** The dispatcher on which the tasks run. */
    public PriorityDispatcher kotlin() {
        return dispatcher;
    }

    @Override
    public void execute(Runnable command) {
        commands.execute(command);
    }

    @Override
    public void shutdown() {
        commands.shutdown();
    }

    @Override
    public List<Runnable> shutdownNow() {
        return commands.shutdownNow();
    }

    @Override
    public boolean isShutdown() {
        return commands.isShutdown();
    }

    @Override
    public boolean isTerminated() {
        return commands.isTerminated();
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
        return commands.awaitTermination(timeout, unit);
    }

    @Override
    protected <T extends @Nullable Object> RunnableFuture<T> newTaskFor(Callable<T> call) {
        return commands.newTaskFor(call);
    }

    @Override
    protected <T extends @Nullable Object> RunnableFuture<T> newTaskFor(Runnable command, T value) {
        return commands.newTaskFor(command, value);
    }

    @Override
    public String toString() {
        return commands.toString();
    }
}
