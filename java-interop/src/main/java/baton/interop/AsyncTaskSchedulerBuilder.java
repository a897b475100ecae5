package baton.interop;

import baton.Priority;
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
import kotlinx.coroutines.Dispatchers;
import kotlinx.coroutines.ExecutorsKt;
import org.jspecify.annotations.Nullable;

/**
 * Says more of a new {@link AsyncTaskScheduler}; see {@link TaskSchedulerConfig} for what it means. Not thread-safe.
 * It can build several, which have nothing in common.
 */
public final class AsyncTaskSchedulerBuilder {
    private final int maxConcurrency;
    private final Map<Priority, Duration> maxWait = new EnumMap<>(Priority.class);
    private @Nullable String name;
    private PriorityPolicy policy = new PriorityPolicy.Bounded();
    private int overdueShare = 4;
    private int capacity = Integer.MAX_VALUE;
    private OnFullQueue onFull = OnFullQueue.REJECT;
    private Executor executor = defaultExecutor();

    AsyncTaskSchedulerBuilder(int maxConcurrency) {
        if (maxConcurrency < 1) {
            throw new IllegalArgumentException("maxConcurrency must be at least 1, was " + maxConcurrency);
        }
        this.maxConcurrency = maxConcurrency;
    }

    /** The common pool, unless that was configured to have no thread: on JDK 17 it never runs anything then. */
    static Executor defaultExecutor() {
        boolean isEmpty = Integer.getInteger("java.util.concurrent.ForkJoinPool.common.parallelism", 1) == 0;
        return isEmpty ? ExecutorsKt.asExecutor(Dispatchers.getIO()) : ForkJoinPool.commonPool();
    }

    /** A name that messages and {@code toString} show; none unless said. */
    public AsyncTaskSchedulerBuilder name(String name) {
        this.name = Objects.requireNonNull(name, "name");
        return this;
    }

    /**
     * What suppliers run on, and the commands of {@link AsyncTaskScheduler#executor}; the common pool unless said, or
     * {@code Dispatchers.IO} if that pool has no thread.
     *
     * @param executor as for {@link AsyncTaskScheduler#of(baton.scheduler.TaskScheduler, Executor)}
     */
    public AsyncTaskSchedulerBuilder executor(Executor executor) {
        this.executor = Objects.requireNonNull(executor, "executor");
        return this;
    }

    /** Which level is next; {@link PriorityPolicy.Bounded} with its defaults unless said. */
    public AsyncTaskSchedulerBuilder policy(PriorityPolicy policy) {
        this.policy = Objects.requireNonNull(policy, "policy");
        return this;
    }

    /**
     * After how long the first task of a level is overdue; never unless said.
     *
     * @throws IllegalArgumentException if {@code wait} is negative
     */
    public AsyncTaskSchedulerBuilder maxWait(Priority priority, Duration wait) {
        Objects.requireNonNull(priority, "priority");
        Objects.requireNonNull(wait, "wait");
        if (wait.isNegative()) {
            throw new IllegalArgumentException("the maxWait of " + priority + " must not be negative, was " + wait);
        }
        maxWait.put(priority, wait);
        return this;
    }

    /**
     * Of how many starts in a row at most one goes to what is overdue; 4 unless said.
     *
     * @throws IllegalArgumentException if {@code share} is below 2
     */
    public AsyncTaskSchedulerBuilder overdueShare(int share) {
        if (share < 2) throw new IllegalArgumentException("overdueShare must be at least 2, was " + share);
        this.overdueShare = share;
        return this;
    }

    /**
     * How many tasks may wait for their turn, and what becomes of one for which there is no room. Java tasks cannot
     * wait for room: {@link OnFullQueue#SUSPEND} refuses them as {@link OnFullQueue#REJECT} does. Unless said, the queue
     * has no bound ({@link Integer#MAX_VALUE}), and what is beyond it is refused by {@link OnFullQueue#REJECT}, where
     * the Kotlin configuration has SUSPEND.
     *
     * @throws IllegalArgumentException if {@code capacity} is negative
     */
    public AsyncTaskSchedulerBuilder capacity(int capacity, OnFullQueue onFull) {
        if (capacity < 0) throw new IllegalArgumentException("capacity must be at least 0, was " + capacity);
        this.onFull = Objects.requireNonNull(onFull, "onFull");
        this.capacity = capacity;
        return this;
    }

    /** A new scheduler. */
    public AsyncTaskScheduler build() {
        TaskScheduler scheduler =
                StageTasks.newScheduler(maxConcurrency, name, policy, maxWait, overdueShare, capacity, onFull);
        return AsyncTaskScheduler.of(scheduler, executor);
    }
}
