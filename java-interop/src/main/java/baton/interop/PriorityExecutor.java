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
 * An {@link java.util.concurrent.ExecutorService} with a level of urgency: tasks of more urgent executors on the same
 * {@link PriorityDispatcher} go first. So existing Java code gets five levels by being given another executor:
 *
 * <pre>{@code
 * PriorityExecutor normal = PriorityExecutor.over(pool, 4);
 * PriorityExecutor critical = normal.level(Priority.CRITICAL);
 * critical.submit(() -> refreshToken());
 * CompletableFuture.supplyAsync(() -> loadPage(), normal);
 * }</pre>
 *
 * <p><i>Order.</i> That of the dispatcher: the most urgent level first, within the bounds of its policy; inside a level
 * first come, first served, for Java tasks and Kotlin coroutines alike. No task that runs is interrupted by a more
 * urgent one.
 *
 * <p><i>Bound.</i> At most as many tasks run at a time as the dispatcher says, those of all levels together.
 *
 * <p><i>Cancellation.</i> A future of {@code submit} that is cancelled while it waits has ended at once; its place in the
 * dispatcher's queue stays, and is passed by without running anything. {@code AsyncTaskScheduler} takes its own out at
 * once.
 *
 * <p><i>Life.</i> It has no threads. Shutting it down ends this executor alone: not the dispatcher, not what is
 * underneath, and not its other levels. It has terminated when all its tasks have ended. {@link #shutdownNow} drops
 * what waits, of which nothing begins after the call, returns it in its order, and interrupts what runs.
 *
 * <p><i>Failures.</i> What a task given to {@link #execute} throws goes to the thread's uncaught exception handler.
 *
 * <p><i>Memory.</i> As {@link java.util.concurrent.ExecutorService} says.
 *
 * <p>All members may be called from any thread.
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
     * A new executor at the level NORMAL, on threads that {@code Dispatchers.IO} adds for it: as many tasks as
     * {@code parallelism} says run at a time, also if all of them block and there are fewer processors.
     *
     * @param parallelism how many tasks run at a time, at least 1, those of all levels together
     * @throws IllegalArgumentException if {@code parallelism} is below 1
     */
    public static PriorityExecutor create(int parallelism) {
        int threads = Math.max(1, parallelism); // below 1 it is refused by prioritized
        return of(
                PriorityDispatchersKt.prioritized(Dispatchers.getIO().limitedParallelism(threads, null), parallelism));
    }

    /**
     * As the other, on the threads of {@code executor}, which stays open when this one is shut down. An executor that
     * runs commands on the caller's thread leaves nothing to wait for its turn. Over an executor of another
     * {@link PriorityDispatcher} all would stand there at one level: for that use {@link #of}, with a view of fewer
     * places by its {@code limitedParallelism} if need be.
     *
     * <p>An executor that rejects a command loses nothing: it runs elsewhere. An executor that takes a command and then
     * drops it, as a pool does on {@code shutdownNow} and with a {@code DiscardPolicy}, takes one of the
     * {@code parallelism} places with it for good; when the last is gone, nothing runs here any more, and no call says
     * so. End this executor, and wait for its termination, before the pool underneath.
     *
     * @throws IllegalArgumentException if {@code parallelism} is below 1, or if {@code executor} is that of a dispatcher
     *     which says that it runs blocks at once, such as {@code Dispatchers.Unconfined}
     */
    public static PriorityExecutor over(Executor executor, int parallelism) {
        Objects.requireNonNull(executor, "executor");
        return of(PriorityDispatchersKt.prioritized(ExecutorsKt.from(executor), parallelism));
    }

    /** A new executor at the level NORMAL, on this very dispatcher. */
    public static PriorityExecutor of(PriorityDispatcher dispatcher) {
        return new PriorityExecutor(Objects.requireNonNull(dispatcher, "dispatcher"), Priority.NORMAL);
    }

    /** A new executor at that level, on the same dispatcher; each is shut down by itself. */
    public PriorityExecutor level(Priority level) {
        return new PriorityExecutor(dispatcher, Objects.requireNonNull(level, "level"));
    }

    /** The level of its tasks. */
    public Priority priority() {
        return priority;
    }

    /** The dispatcher on which they run. */
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
