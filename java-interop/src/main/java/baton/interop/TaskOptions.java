package baton.interop;

import baton.Priority;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * How an {@link AsyncTaskScheduler} runs a task: its level, and optionally a key, time limits and an executor.
 * Immutable.
 *
 * <pre>{@code
 * TaskOptions prefetch = TaskOptions.of(Priority.LOW).withKey(url).withDeadline(Duration.ofSeconds(5));
 * }</pre>
 *
 * @param key shown by messages and {@code toString}, or null. {@link AsyncTaskScheduler#cancel(Object)} finds the task by
 *     it; several tasks may have the same key, and keys are compared by {@code equals}
 * @param deadline how long the task may wait for its slot, or null for no limit. A task that has not begun then fails
 *     with {@code TaskDeadlineException}; zero or less means now or not at all. The deadline does not limit how long
 *     the task runs. It is rounded up to whole milliseconds
 * @param timeout how long the task may take until its end, its wait included, or null for no limit: positive, rounded
 *     up to whole milliseconds. Then its future fails with {@code TaskTimeoutException}. A task that waits leaves the
 *     queue, and counts as expired. The stage of one that runs is cancelled, if that is possible, and the slot is free
 *     when the stage has completed; a callable runs to its end. That task counts as failed, whatever its stage or
 *     callable ends with; an exception of it is suppressed in that of the future. In Kotlin it is the same, except that
 *     the task fails when its block has ended, and its future here when the time is over
 * @param runTimeout how long the task may take from the begin of its action to its end, or null for no limit; else as
 *     {@code timeout}: the wait for the slot does not count
 * @param executor runs the task, see {@link AsyncTaskScheduler#of(baton.scheduler.TaskScheduler, Executor)}; null for
 *     the executor of the scheduler. Not an {@link AsyncTaskScheduler#executor} of that scheduler: each task would wait
 *     in its slot for another one
 */
public record TaskOptions(
        Priority priority,
        @Nullable Object key,
        @Nullable Duration deadline,
        @Nullable Duration timeout,
        @Nullable Duration runTimeout,
        @Nullable Executor executor) {
    public TaskOptions {
        Objects.requireNonNull(priority, "priority");
        requirePositive("timeout", timeout);
        requirePositive("runTimeout", runTimeout);
    }

    private static void requirePositive(String name, @Nullable Duration time) {
        if (time != null && (time.isNegative() || time.isZero()))
            throw new IllegalArgumentException(name + " = " + time + ", must be positive");
    }

    /** A task of that level, with no key, no time limit and no executor of its own. */
    public static TaskOptions of(Priority priority) {
        return new TaskOptions(priority, null, null, null, null, null);
    }

    /** The same with that key. */
    public TaskOptions withKey(Object key) {
        return new TaskOptions(priority, Objects.requireNonNull(key, "key"), deadline, timeout, runTimeout, executor);
    }

    /** The same with that deadline. */
    public TaskOptions withDeadline(Duration deadline) {
        return new TaskOptions(
                priority, key, Objects.requireNonNull(deadline, "deadline"), timeout, runTimeout, executor);
    }

    /** The same with that timeout. */
    public TaskOptions withTimeout(Duration timeout) {
        return new TaskOptions(
                priority, key, deadline, Objects.requireNonNull(timeout, "timeout"), runTimeout, executor);
    }

    /** The same with that run timeout. */
    public TaskOptions withRunTimeout(Duration runTimeout) {
        return new TaskOptions(
                priority, key, deadline, timeout, Objects.requireNonNull(runTimeout, "runTimeout"), executor);
    }

    /** The same on that executor. */
    public TaskOptions withExecutor(Executor executor) {
        return new TaskOptions(
                priority, key, deadline, timeout, runTimeout, Objects.requireNonNull(executor, "executor"));
    }
}
