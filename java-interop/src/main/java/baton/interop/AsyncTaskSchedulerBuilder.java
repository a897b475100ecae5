package baton.interop;

import baton.BatonClock;
import baton.Priority;
import baton.bridge.Durations;
import baton.scheduler.OnFullQueue;
import baton.scheduler.PriorityPolicy;
import baton.scheduler.TaskScheduler;
import baton.scheduler.TaskSchedulerConfig;
import baton.scheduler.bridge.StageTasks;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.function.BiConsumer;
import kotlinx.coroutines.Dispatchers;
import kotlinx.coroutines.ExecutorsKt;
import org.jspecify.annotations.Nullable;

/**
 * Configures and builds an {@link AsyncTaskScheduler}; {@link TaskSchedulerConfig} specifies the meaning of the
 * settings. Not thread-safe. One builder can build several schedulers, which share nothing.
 *
 * <pre>{@code
 * AsyncTaskScheduler scheduler = AsyncTaskScheduler.builder(3)
 *         .maxWait(Priority.LOW, Duration.ofSeconds(5))
 *         .capacity(1_000, OnFullQueue.REJECT)
 *         .build();
 * }</pre>
 */
public final class AsyncTaskSchedulerBuilder {
    private final int maxConcurrency;
    private final Map<Priority, Duration> maxWait = new EnumMap<>(Priority.class);
    private @Nullable String name;
    private PriorityPolicy policy = new PriorityPolicy.Bounded();
    private int overdueShare = 4;
    private int capacity = Integer.MAX_VALUE;
    private OnFullQueue onFull = OnFullQueue.REJECT;
    private @Nullable BatonClock clock;
    private @Nullable BiConsumer<? super @Nullable Object, ? super Throwable> onFailure;
    private Executor executor = defaultExecutor();

    AsyncTaskSchedulerBuilder(int maxConcurrency) {
        if (maxConcurrency < 1) {
            throw new IllegalArgumentException("maxConcurrency = " + maxConcurrency + ", must be at least 1");
        }
        this.maxConcurrency = maxConcurrency;
    }

    /**
     * The common pool, or {@code Dispatchers.IO} if the common pool was configured to have no thread: on JDK 17 such a
     * pool never runs a command.
     */
    static Executor defaultExecutor() {
        boolean isEmpty = Integer.getInteger("java.util.concurrent.ForkJoinPool.common.parallelism", 1) == 0;
        return isEmpty ? ExecutorsKt.asExecutor(Dispatchers.getIO()) : ForkJoinPool.commonPool();
    }

    /** The name shown by messages and {@code toString}; by default null, which is none. */
    public AsyncTaskSchedulerBuilder name(@Nullable String name) {
        this.name = name;
        return this;
    }

    /**
     * The executor of suppliers and of the commands of {@link AsyncTaskScheduler#executor}. By default it is the common
     * pool, or {@code Dispatchers.IO} if that pool has no thread.
     *
     * @param executor as for {@link AsyncTaskScheduler#of(baton.scheduler.TaskScheduler, Executor)}
     */
    public AsyncTaskSchedulerBuilder executor(Executor executor) {
        this.executor = Objects.requireNonNull(executor, "executor");
        return this;
    }

    /** The policy that selects the next level; by default {@link PriorityPolicy.Bounded} with its defaults. */
    public AsyncTaskSchedulerBuilder policy(PriorityPolicy policy) {
        this.policy = Objects.requireNonNull(policy, "policy");
        return this;
    }

    /**
     * The wait after which the first task of a level is overdue; by default it never is.
     *
     * @throws IllegalArgumentException if {@code wait} is negative
     */
    public AsyncTaskSchedulerBuilder maxWait(Priority priority, Duration wait) {
        Objects.requireNonNull(priority, "priority");
        Objects.requireNonNull(wait, "wait");
        if (wait.isNegative()) {
            throw new IllegalArgumentException(
                    "maxWait of " + priority + " = " + Durations.textOf(wait) + ", must be at least 0");
        }
        maxWait.put(priority, wait);
        return this;
    }

    /**
     * Of this many starts in a row at most one goes to an overdue task; by default 4.
     *
     * @throws IllegalArgumentException if {@code share} is below 2
     */
    public AsyncTaskSchedulerBuilder overdueShare(int share) {
        if (share < 2) throw new IllegalArgumentException("overdueShare = " + share + ", must be at least 2");
        this.overdueShare = share;
        return this;
    }

    /**
     * The number of tasks that may be queued, and the handling of a task for which there is no room. Java tasks cannot
     * wait for room: {@link OnFullQueue#SUSPEND} refuses them as {@link OnFullQueue#REJECT} does. By default the queue
     * has no bound ({@link Integer#MAX_VALUE}) and {@link OnFullQueue#REJECT} refuses tasks beyond the capacity; the
     * Kotlin configuration has SUSPEND as its default.
     *
     * @throws IllegalArgumentException if {@code capacity} is negative
     */
    public AsyncTaskSchedulerBuilder capacity(int capacity, OnFullQueue onFull) {
        if (capacity < 0) throw new IllegalArgumentException("capacity = " + capacity + ", must be at least 0");
        this.onFull = Objects.requireNonNull(onFull, "onFull");
        this.capacity = capacity;
        return this;
    }

    /** The clock of the waits and of the deadlines; by default that of the system. */
    public AsyncTaskSchedulerBuilder clock(BatonClock clock) {
        this.clock = Objects.requireNonNull(clock, "clock");
        return this;
    }

    /**
     * Called once for each task that fails, also if a caller waits for its future, with its key or null and its
     * exception: that of its action or stage, of a timeout, or the refusal of a task that has not begun, which is a
     * {@code Refusal}. A cancelled task has not failed. It is called by the thread that ends the task, after its slot is
     * free and before its future is done; a future that fails by a timeout while its task goes on is done earlier. It
     * must not block. Its exceptions go to the thread's handler of uncaught exceptions. By default the future alone has
     * the failure.
     */
    public AsyncTaskSchedulerBuilder onFailure(BiConsumer<? super @Nullable Object, ? super Throwable> listener) {
        this.onFailure = Objects.requireNonNull(listener, "listener");
        return this;
    }

    /** A new scheduler. */
    public AsyncTaskScheduler build() {
        TaskScheduler scheduler = StageTasks.newScheduler(
                maxConcurrency, name, policy, maxWait, overdueShare, capacity, onFull, clock, onFailure);
        return AsyncTaskScheduler.of(scheduler, executor);
    }
}
