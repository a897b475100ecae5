package baton.interop.internal.blocking;

import baton.PermitTimeoutException;
import baton.Priority;
import baton.interop.internal.futures.Interruption;
import baton.interop.internal.futures.Late;
import baton.interop.internal.futures.Stages;
import baton.interop.internal.futures.TaskFuture;
import baton.interop.internal.futures.Timeout;
import baton.scheduler.TaskDeadlineException;
import baton.scheduler.TaskScheduler;
import baton.scheduler.bridge.StageTasks;
import baton.waiting.Parking;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A task of a scheduler that runs on the calling thread. As the executor of its {@link TaskFuture}, this hands the
 * command to that thread, which waits for it. The task's future decides whether it begins or is withdrawn. A task that
 * has begun ends the call as it ends, whatever becomes of the future meanwhile.
 */
public final class CallerTask<T extends @Nullable Object> implements Executor {
    private final Thread thread = Thread.currentThread();
    private final TaskScheduler scheduler;
    private final FutureTask<T> task;
    private final Slot future;
    private volatile @Nullable Runnable command;

    /** Null for a task without time limits. */
    private @Nullable Interruption interruption;

    /** A task that may run for {@code runTimeout} at most; null for no limit. */
    public CallerTask(
            TaskScheduler scheduler,
            Priority priority,
            @Nullable Object key,
            @Nullable Duration runTimeout,
            Callable<T> task) {
        this.scheduler = scheduler;
        this.task = new FutureTask<>(task);
        this.interruption = runTimeout == null ? null : new Interruption();
        this.future = new Slot(priority, key, runTimeout);
    }

    /** Waits for a slot and runs the task. */
    public T run() throws Exception {
        return run(Parking.FOREVER, null, () -> future.start(true));
    }

    /**
     * As {@link #run()}, with a deadline of its start and a timeout of the task: they are those of its future. A task
     * that runs is interrupted.
     */
    public T run(@Nullable Duration deadline, @Nullable Duration timeout) throws Exception {
        if (deadline == null && timeout == null && interruption == null) return run();
        StageTasks.requireReal(scheduler);
        if (timeout != null && interruption == null) interruption = new Interruption();
        return run(Parking.FOREVER, null, () -> future.start(deadline, timeout));
    }

    /**
     * As {@link #run()}, but waits {@code timeout} at most for a slot.
     *
     * @throws PermitTimeoutException if there was no slot in time; the task has not begun
     */
    public T run(Duration timeout) throws Exception {
        StageTasks.requireReal(scheduler);
        long nanos = Timeout.nanos(timeout);
        return run(nanos, timeout, () -> future.start(nanos > 0));
    }

    private T run(long nanos, @Nullable Duration timeout, Runnable start) throws Exception {
        try {
            start.run();
            awaitSlot(nanos, timeout);
        } catch (Throwable e) {
            future.cancel(false);
            throw e;
        }
        Runnable mine = command;
        if (mine != null) mine.run();
        if (task.isDone() && !future.hasTimedOut()) return result();
        try {
            return Stages.result(future);
        } catch (TaskDeadlineException e) {
            if (timeout == null) throw e;
            throw Late.slot(timeout, scheduler); // of a call that may not wait
        }
    }

    /** Returns when there is a command, or the future has completed without one. */
    private void awaitSlot(long nanos, @Nullable Duration timeout) throws InterruptedException, PermitTimeoutException {
        var unused = future.whenComplete((value, e) -> LockSupport.unpark(thread));
        long start = System.nanoTime();
        while (command == null && !future.isDone()) {
            long left = Parking.left(nanos, start);
            if (left > 0) {
                Parking.park(scheduler, left);
                if (!Thread.interrupted()) continue;
                if (future.cancel(false)) throw new InterruptedException();
                thread.interrupt();
            } else if (future.cancel(false)) {
                throw Late.slot(timeout, scheduler);
            }
        }
    }

    /** The task in the scheduler. */
    private final class Slot extends TaskFuture<T, Callable<T>> {
        Slot(Priority priority, @Nullable Object key, @Nullable Duration runTimeout) {
            super(scheduler, priority, key, runTimeout, CallerTask.this, CallerTask.this::runTask);
        }

        /** A task that may not wait displaces no other. */
        void start(boolean mayWait) {
            if (mayWait) submit();
            else submit(Duration.ZERO);
        }

        void start(@Nullable Duration deadline, @Nullable Duration timeout) {
            if (timeout != null) limit(timeout);
            if (deadline == null) submit();
            else submit(deadline);
        }

        boolean hasTimedOut() {
            return task().getHasTimedOut();
        }

        @Override
        protected void interruptLate() {
            if (interruption != null) interruption.interrupt();
        }

        @Override
        protected void run(Callable<T> action) {
            runCallable(action);
        }
    }

    private T runTask() throws Exception {
        if (interruption == null) {
            task.run();
        } else {
            interruption.begin();
            task.run();
            var unused = interruption.end();
        }
        return result();
    }

    /** The value of the task, which has run; throws what it has thrown. */
    private T result() throws Exception {
        try {
            return task.get();
        } catch (ExecutionException e) {
            throw Stages.asException(e.getCause());
        }
    }

    @Override
    public void execute(Runnable command) {
        this.command = command;
        LockSupport.unpark(thread);
    }
}
