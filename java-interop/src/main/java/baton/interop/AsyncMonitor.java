package baton.interop;

import baton.BatonClock;
import baton.bridge.MonitorBridge;
import baton.monitoring.Alert;
import baton.monitoring.AlertRules;
import baton.monitoring.Monitor;
import baton.monitoring.Monitored;
import baton.monitoring.Usage;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A {@link Monitor} for Java: looks at what it watches at regular times, and raises an alert when something is out of its
 * bounds for a while. Its class describes alerts, limits and cost.
 *
 * <pre>{@code
 * AlertRules rules = AsyncMonitor.rules(0.70, 0.60, Duration.ofSeconds(5), Duration.ofSeconds(30));
 * try (AsyncMonitor monitor = AsyncMonitor.start(Duration.ofMillis(500), rules, alert -> log(alert))) {
 *     monitor.watch("uplink", semaphore);
 *     monitor.watch("pool", () -> AsyncMonitor.usage(pool.active(), 10));
 * }
 * }</pre>
 *
 * <p><i>Threads.</i> The looks, the suppliers and {@code onAlert} run one at a time, on threads of the common pool, or of
 * {@code Dispatchers.IO} where that pool has none, unless {@link #start(Duration, AlertRules, Consumer, Executor)} gets
 * another executor. Their exceptions go to the thread's handler for uncaught exceptions, and the monitor goes on. While
 * the executor rejects the monitor, its looks are late: it tries again, at least every 100 ms. The monitor ends if the
 * executor was shut down; if it is no {@code ExecutorService}, which would tell, when it has rejected for a minute.
 *
 * <p><i>Memory.</i> The monitor does not keep what it watches in memory, except the suppliers. It runs until it is closed,
 * also if nothing refers to it.
 *
 * <p>All methods may be called from any thread.
 */
public final class AsyncMonitor implements AutoCloseable {
    private final Monitor monitor;

    private AsyncMonitor(Monitor monitor) {
        this.monitor = monitor;
    }

    /**
     * Starts a monitor.
     *
     * @param every the time between two looks, of which the first is at once; positive
     * @param onAlert gets each alert when it is raised, and when it is cleared
     * @throws IllegalArgumentException if {@code every} is not positive
     */
    public static AsyncMonitor start(Duration every, AlertRules rules, Consumer<? super Alert> onAlert) {
        return start(every, rules, onAlert, AsyncTaskSchedulerBuilder.defaultExecutor());
    }

    /** As the other, on threads of the given executor. */
    public static AsyncMonitor start(
            Duration every, AlertRules rules, Consumer<? super Alert> onAlert, Executor executor) {
        return startBy(null, every, rules, onAlert, executor);
    }

    /** As the other, by the given clock. */
    public static AsyncMonitor start(
            Duration every, AlertRules rules, Consumer<? super Alert> onAlert, Executor executor, BatonClock clock) {
        return startBy(Objects.requireNonNull(clock, "clock"), every, rules, onAlert, executor);
    }

    private static AsyncMonitor startBy(
            @Nullable BatonClock clock,
            Duration every,
            AlertRules rules,
            Consumer<? super Alert> onAlert,
            Executor executor) {
        Objects.requireNonNull(every, "every");
        Objects.requireNonNull(rules, "rules");
        Objects.requireNonNull(onAlert, "onAlert");
        Objects.requireNonNull(executor, "executor");
        return of(MonitorBridge.start(every, rules, onAlert, executor, clock));
    }

    /** The Java API of the given monitor. */
    public static AsyncMonitor of(Monitor monitor) {
        return new AsyncMonitor(Objects.requireNonNull(monitor, "monitor"));
    }

    /** The Kotlin monitor behind this. */
    public Monitor kotlin() {
        return monitor;
    }

    /**
     * Rules for alerts, as {@link AlertRules} describes them.
     *
     * @throws IllegalArgumentException if a number is out of its bounds
     */
    public static AlertRules rules(double utilisation, double clearBelow, Duration after, Duration longestWait) {
        Objects.requireNonNull(after, "after");
        Objects.requireNonNull(longestWait, "longestWait");
        return MonitorBridge.rules(utilisation, clearBelow, after, longestWait, null);
    }

    /** As {@link #rules(double, double, Duration, Duration)}, with a longest run, which is unlimited by default. */
    public static AlertRules rules(
            double utilisation, double clearBelow, Duration after, Duration longestWait, Duration longestRun) {
        Objects.requireNonNull(after, "after");
        Objects.requireNonNull(longestWait, "longestWait");
        Objects.requireNonNull(longestRun, "longestRun");
        return MonitorBridge.rules(utilisation, clearBelow, after, longestWait, longestRun);
    }

    /** The rules with their defaults: 70 % and 60 %, for 5 seconds, and a longest wait of 30 seconds. */
    public static AlertRules rules() {
        return new AlertRules();
    }

    /**
     * A usage without waiters.
     *
     * @throws IllegalArgumentException if a number is negative
     */
    public static Usage usage(long inUse, long capacity) {
        return MonitorBridge.usage(inUse, capacity);
    }

    /**
     * A usage with waiters.
     *
     * @throws IllegalArgumentException if a number or the time is negative
     */
    public static Usage usage(long inUse, long capacity, int waiting, Duration longestWait) {
        return MonitorBridge.usage(inUse, capacity, waiting, Objects.requireNonNull(longestWait, "longestWait"));
    }

    /**
     * Watches an object until the result is closed, or the object is not in memory any more.
     *
     * @param name in alerts and snapshots
     * @throws IllegalArgumentException if a source with this name is watched already
     * @throws IllegalStateException if the monitor is closed
     */
    public AutoCloseable watch(String name, Monitored source) {
        Objects.requireNonNull(name, "name");
        return monitor.watch(Objects.requireNonNull(source, "source"), name, null);
    }

    /** Watches the permits of a semaphore. See {@link #watch(String, Monitored)}. */
    public AutoCloseable watch(String name, AsyncSemaphore semaphore) {
        return watch(name, Objects.requireNonNull(semaphore, "semaphore").kotlin());
    }

    /** Watches a mutex. See {@link #watch(String, Monitored)}. */
    public AutoCloseable watch(String name, AsyncMutex mutex) {
        return watch(name, Objects.requireNonNull(mutex, "mutex").kotlin());
    }

    /** Watches a read-write lock. See {@link #watch(String, Monitored)}. */
    public AutoCloseable watch(String name, AsyncReadWriteLock lock) {
        return watch(name, Objects.requireNonNull(lock, "lock").kotlin());
    }

    /** Watches the parties that wait at a barrier. See {@link #watch(String, Monitored)}. */
    public AutoCloseable watch(String name, AsyncBarrier barrier) {
        return watch(name, Objects.requireNonNull(barrier, "barrier").kotlin());
    }

    /** Watches the count of a latch, and the callers that wait for it. See {@link #watch(String, Monitored)}. */
    public AutoCloseable watch(String name, AsyncLatch latch) {
        return watch(name, Objects.requireNonNull(latch, "latch").kotlin());
    }

    /** Watches the count of a wait group, and the callers that wait for it. See {@link #watch(String, Monitored)}. */
    public AutoCloseable watch(String name, AsyncWaitGroup group) {
        return watch(name, Objects.requireNonNull(group, "group").kotlin());
    }

    /** Watches the callers that wait for the signal of a condition. See {@link #watch(String, Monitored)}. */
    public AutoCloseable watch(String name, AsyncCondition condition) {
        return watch(name, Objects.requireNonNull(condition, "condition").kotlin());
    }

    /** Watches the places of a channel, and its senders. See {@link #watch(String, Monitored)}. */
    public AutoCloseable watch(String name, AsyncChannel<?> channel) {
        return watch(name, Objects.requireNonNull(channel, "channel").kotlin());
    }

    /** Watches the permits of a rate limiter. See {@link #watch(String, Monitored)}. */
    public AutoCloseable watch(String name, AsyncRateLimiter limiter) {
        return watch(name, Objects.requireNonNull(limiter, "limiter").kotlin());
    }

    /** Watches whether a circuit breaker is open. See {@link #watch(String, Monitored)}. */
    public AutoCloseable watch(String name, AsyncCircuitBreaker breaker) {
        return watch(name, Objects.requireNonNull(breaker, "breaker").kotlin());
    }

    /** Watches the items that a batch processor is at work on. See {@link #watch(String, Monitored)}. */
    public AutoCloseable watch(String name, AsyncBatchProcessor processor) {
        return watch(name, Objects.requireNonNull(processor, "processor").kotlin());
    }

    /** Watches the slots of a task scheduler, and its queue. See {@link #watch(String, Monitored)}. */
    public AutoCloseable watch(String name, AsyncTaskScheduler scheduler) {
        return watch(name, Objects.requireNonNull(scheduler, "scheduler").kotlin());
    }

    /** Watches the places of a schedule, and the runs that wait for one. See {@link #watch(String, Monitored)}. */
    public AutoCloseable watch(String name, AsyncSchedule<?> schedule) {
        return watch(name, Objects.requireNonNull(schedule, "schedule").kotlin());
    }

    /**
     * Watches what the supplier returns, which is called at each look and {@link #snapshot}, until the result is closed.
     *
     * @throws IllegalArgumentException if a source with this name is watched already
     * @throws IllegalStateException if the monitor is closed
     */
    public AutoCloseable watch(String name, Supplier<Usage> usage) {
        Objects.requireNonNull(name, "name");
        return MonitorBridge.watch(monitor, name, Objects.requireNonNull(usage, "usage"));
    }

    /** The time between two looks. */
    public Duration every() {
        return MonitorBridge.everyOf(monitor);
    }

    /** The alerts that are raised at present. */
    public List<Alert> active() {
        return monitor.getActive();
    }

    /** The usage of each source by name, read now; its peak is that since the last snapshot. */
    public Map<String, Usage> snapshot() {
        return monitor.snapshot();
    }

    /** Ends the watches. No look begins after this; one that goes on is not waited for. */
    @Override
    public void close() {
        monitor.close();
    }

    @Override
    public String toString() {
        return "Async" + monitor;
    }
}
