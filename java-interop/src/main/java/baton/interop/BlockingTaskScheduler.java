package baton.interop;

import baton.PermitTimeoutException;
import baton.Priority;
import baton.bridge.SyncBridge;
import baton.interop.internal.blocking.CallerTask;
import baton.interop.internal.blocking.ThreadCountdown;
import baton.scheduler.SchedulerClosedException;
import baton.scheduler.TaskRejectedException;
import baton.scheduler.TaskScheduler;
import baton.scheduler.bridge.StageTasks;
import baton.sync.Latch;
import baton.waiting.ThreadWaiter;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/**
 * A {@link TaskScheduler} for threads that may block: virtual threads above all. Made by {@link
 * AsyncTaskScheduler#blocking()}.
 *
 * <pre>{@code
 * Page page = scheduler.blocking().call(Priority.HIGH, () -> load(url));
 * }</pre>
 *
 * <p>A call waits for a slot and then runs its task on the calling thread. It counts as a task of the scheduler: calls,
 * Java tasks and Kotlin coroutines wait in one queue. A waiting thread parks, so a virtual thread leaves its carrier. A
 * call within a task needs a second slot: with {@code maxConcurrency = 1} it waits for itself.
 *
 * <p><i>Interrupts.</i> An interrupt ends the wait for a slot: the call leaves the queue and its task never runs. Once
 * the task runs, the interrupt is the task's.
 *
 * <p><i>Failures.</i> What the task throws; {@link TaskRejectedException}, {@code TaskShedException} or {@link
 * SchedulerClosedException} if the scheduler refuses it; {@link CancellationException} if the scope of a Kotlin
 * scheduler was cancelled before the task began.
 */
public final class BlockingTaskScheduler {
    private final TaskScheduler scheduler;

    BlockingTaskScheduler(TaskScheduler scheduler) {
        this.scheduler = scheduler;
    }

    /** Waits for a slot, runs {@code task} on this thread, and returns its value. */
    public <T extends @Nullable Object> T call(Priority priority, Callable<T> task) throws Exception {
        Objects.requireNonNull(priority, "priority");
        Objects.requireNonNull(task, "task");
        ThreadWaiter.throwIfInterrupted();
        return new CallerTask<T>(scheduler, priority, null, null, task).run();
    }

    /**
     * As {@link #call(Priority, Callable)}, but waits {@code timeout} at most for a slot.
     *
     * @throws PermitTimeoutException if there was no slot in time; the task has not begun
     */
    public <T extends @Nullable Object> T call(Priority priority, Duration timeout, Callable<T> task) throws Exception {
        Objects.requireNonNull(priority, "priority");
        Objects.requireNonNull(timeout, "timeout");
        Objects.requireNonNull(task, "task");
        ThreadWaiter.throwIfInterrupted();
        return new CallerTask<T>(scheduler, priority, null, null, task).run(timeout);
    }

    /**
     * As {@link #call(Priority, Callable)}, with further options. If a timeout passes while the task runs, this thread
     * is interrupted. Once the task has ended, the call fails, whatever the task has returned; its exception is
     * suppressed, and the interrupt is cleared. Another interrupt between the timeout and that end is cleared with it. A
     * task that ignores interrupts runs to its end.
     *
     * @throws baton.scheduler.TaskDeadlineException if there was no slot before the deadline; the task has not begun
     * @throws baton.scheduler.TaskTimeoutException if the task has not ended within the timeout, its wait included, or
     *     within the run timeout
     * @throws IllegalArgumentException if the options have an executor: the task runs on this thread
     * @throws IllegalStateException if there is a deadline or a timeout, and the scheduler has a clock for which no
     *     thread can wait
     */
    public <T extends @Nullable Object> T call(TaskOptions options, Callable<T> task) throws Exception {
        Objects.requireNonNull(options, "options");
        Objects.requireNonNull(task, "task");
        if (options.executor() != null)
            throw new IllegalArgumentException(
                    "executor = " + options.executor() + ", must be null: the task runs on the calling thread");
        ThreadWaiter.throwIfInterrupted();
        return new CallerTask<T>(scheduler, options.priority(), options.key(), options.runTimeout(), task)
                .run(options.deadline(), options.timeout());
    }

    /** Waits for the next moment without tasks, as {@link AsyncTaskScheduler#awaitIdle} does. */
    public void awaitIdle() throws InterruptedException {
        ThreadWaiter.throwIfInterrupted();
        Latch idle = StageTasks.idle(scheduler);
        if (idle != null) waitFor(idle).await();
    }

    /**
     * As {@link #awaitIdle()}, but waits {@code timeout} at most. Returns whether there was such a moment.
     *
     * @throws IllegalStateException if the scheduler has a clock for which no thread can wait
     */
    public boolean awaitIdle(Duration timeout) throws InterruptedException {
        Objects.requireNonNull(timeout, "timeout");
        ThreadWaiter.throwIfInterrupted();
        StageTasks.requireReal(scheduler);
        Latch idle = StageTasks.idle(scheduler);
        return idle == null || waitFor(idle).await(timeout);
    }

    private ThreadCountdown waitFor(Latch latch) {
        return new ThreadCountdown(SyncBridge.of(latch), latch::getCount, scheduler);
    }

    @Override
    public String toString() {
        return "Blocking" + scheduler;
    }
}
