package baton.interop;

import baton.Priority;
import baton.interop.internal.futures.DispatcherExecutor;
import baton.interop.internal.futures.OwnThreads;
import baton.scheduler.DispatcherMetrics;
import baton.scheduler.PriorityDispatcher;
import baton.scheduler.PriorityDispatchersKt;
import baton.scheduler.PriorityPolicy;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.RunnableFuture;
import java.util.concurrent.TimeUnit;
import kotlinx.coroutines.CoroutineDispatcher;
import kotlinx.coroutines.ExecutorsKt;
import org.jspecify.annotations.Nullable;

/**
 * An {@link java.util.concurrent.ExecutorService} with a priority level: on one {@link PriorityDispatcher}, tasks of
 * executors with more urgent levels start first. Existing Java code gets five levels when it is given such an executor:
 *
 * <pre>{@code
 * PriorityExecutor normal = PriorityExecutor.create(4, "uplink");
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
 * <p><i>Life.</i> Shutting it down ends this executor alone: not the dispatcher, not the underlying executor, and not
 * its other levels. It has terminated when all its tasks have ended. {@link #shutdownNow} drops the waiting tasks, none
 * of which begins after the call, returns them in their order, and interrupts the running tasks.
 *
 * <p><i>Threads.</i> An executor made by {@code create} and its other levels share threads of their own. They are
 * daemons, and are started on demand. A thread that has been idle for a minute ends, so that an executor which is never
 * shut down holds no threads. After the shutdown of the executor that {@code create} returned, threads end as soon as
 * they are idle; levels that are still open start new ones for their tasks. An executor made by {@link #over} or {@link
 * #of} has no threads of its own.
 *
 * <p><i>Failures.</i> An exception thrown by a task given to {@link #execute} goes to the thread's uncaught exception
 * handler.
 *
 * <p><i>Context.</i> With {@link ContextPropagation}, a command runs in the context of the thread that submitted it.
 *
 * <p><i>Memory.</i> As {@link java.util.concurrent.ExecutorService} specifies.
 *
 * <p>All methods may be called from any thread.
 */
public final class PriorityExecutor extends AbstractExecutorService {
    /** The kind of an executor's own threads. */
    public enum Threads {
        /** Threads of the operating system. Tasks that follow each other share a thread. */
        PLATFORM,

        /** Virtual threads, on JDK 21 and newer. Each runs few tasks, in most cases one, and ends. */
        VIRTUAL
    }

    private final PriorityDispatcher dispatcher;
    private final Priority priority;
    private final DispatcherExecutor commands;

    /** The threads that this executor ends when it is shut down, or null. */
    private final @Nullable OwnThreads threads;

    private PriorityExecutor(PriorityDispatcher dispatcher, Priority priority, @Nullable OwnThreads threads) {
        this.dispatcher = dispatcher;
        this.priority = priority;
        this.threads = threads;
        this.commands = new DispatcherExecutor(dispatcher, priority);
    }

    /**
     * A new executor at the level NORMAL, on platform threads of its own: {@code parallelism} tasks run at a time, even
     * if all of them block and there are fewer processors.
     *
     * @param parallelism the number of tasks of all levels together that run at a time, at least 1
     * @throws IllegalArgumentException if {@code parallelism} is below 1
     */
    public static PriorityExecutor create(int parallelism) {
        return create(parallelism, Threads.PLATFORM, null);
    }

    /**
     * As {@link #create(int)}, with a name that {@code toString} shows. With the name "uplink" the threads are named
     * {@code baton-uplink-1}, {@code baton-uplink-2} and so on; without a name {@code baton-executor-1} and so on.
     *
     * @param name shown by messages and {@code toString}, or null
     */
    public static PriorityExecutor create(int parallelism, @Nullable String name) {
        return create(parallelism, Threads.PLATFORM, name);
    }

    /**
     * As {@link #create(int)}, on threads of the given kind.
     *
     * @throws UnsupportedOperationException for virtual threads before JDK 21
     */
    public static PriorityExecutor create(int parallelism, Threads threads) {
        return create(parallelism, threads, null);
    }

    /**
     * As {@link #create(int, String)}, on threads of the given kind.
     *
     * @param name shown by messages and {@code toString}, or null
     * @throws UnsupportedOperationException for virtual threads before JDK 21
     */
    public static PriorityExecutor create(int parallelism, Threads threads, @Nullable String name) {
        boolean isVirtual = Objects.requireNonNull(threads, "threads") == Threads.VIRTUAL;
        String prefix = "baton-" + (name == null ? "executor" : name) + "-";
        int size = Math.max(1, parallelism); // prioritized refuses a parallelism below 1
        OwnThreads own = isVirtual ? OwnThreads.virtual(prefix) : OwnThreads.platform(size, prefix);
        CoroutineDispatcher underlying = ExecutorsKt.from(own);
        PriorityDispatcher dispatcher = isVirtual
                // A quantum of one task, since a new virtual thread costs little.
                ? PriorityDispatchersKt.prioritized(underlying, parallelism, name, new PriorityPolicy.Bounded(), 1)
                : PriorityDispatchersKt.prioritized(underlying, parallelism, name);
        return new PriorityExecutor(dispatcher, Priority.NORMAL, own);
    }

    /**
     * As {@link #create(int)}, but on the threads of {@code executor}, which stays open when this one is shut down.
     * With an executor that runs commands on the caller's thread no task has to wait for its turn. Over an executor of
     * another {@link PriorityDispatcher} all tasks would have one level there. In that case use {@link #of}, with a
     * view of lower parallelism by the dispatcher's {@code limitedParallelism} if necessary.
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
        return over(executor, parallelism, null);
    }

    /** As {@link #over(Executor, int)}, with a name for messages and {@code toString}; null for none. */
    public static PriorityExecutor over(Executor executor, int parallelism, @Nullable String name) {
        Objects.requireNonNull(executor, "executor");
        return of(PriorityDispatchersKt.prioritized(ExecutorsKt.from(executor), parallelism, name));
    }

    /** A new executor at the level NORMAL, on the given dispatcher itself. */
    public static PriorityExecutor of(PriorityDispatcher dispatcher) {
        return new PriorityExecutor(Objects.requireNonNull(dispatcher, "dispatcher"), Priority.NORMAL, null);
    }

    /** A new executor at the given level, on the same dispatcher; each is shut down by itself. */
    public PriorityExecutor level(Priority level) {
        return new PriorityExecutor(dispatcher, Objects.requireNonNull(level, "level"), null);
    }

    /** The level of the tasks of this executor. */
    public Priority priority() {
        return priority;
    }

    /** The dispatcher on which the tasks run. */
    public PriorityDispatcher kotlin() {
        return dispatcher;
    }

    /** A snapshot of the counters of the dispatcher: the tasks of all its levels, of Java and of Kotlin. */
    public DispatcherMetrics metrics() {
        return dispatcher.getMetrics();
    }

    @Override
    public void execute(Runnable command) {
        commands.execute(command);
    }

    @Override
    public void shutdown() {
        commands.shutdown();
        if (threads != null) threads.endIdleThreads();
    }

    @Override
    public List<Runnable> shutdownNow() {
        List<Runnable> dropped = commands.shutdownNow();
        if (threads != null) threads.endIdleThreads();
        return dropped;
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
