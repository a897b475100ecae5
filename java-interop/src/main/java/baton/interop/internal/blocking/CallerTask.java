package baton.interop.internal.blocking;

import baton.Priority;
import baton.interop.internal.futures.Stages;
import baton.interop.internal.futures.TaskFuture;
import baton.scheduler.TaskScheduler;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A task of a scheduler that the thread which asks for it runs itself: its executor hands the command to that thread,
 * which waits for it. The task's future decides whether it begins or is withdrawn.
 */
public final class CallerTask<T extends @Nullable Object> implements Executor {
    private final Thread thread = Thread.currentThread();
    private final TaskScheduler scheduler;
    private final CompletableFuture<T> future;
    private volatile @Nullable Runnable command;

    /** Submits the task. */
    public CallerTask(TaskScheduler scheduler, Priority priority, Callable<? extends T> task) {
        this.scheduler = scheduler;
        this.future = TaskFuture.<T>of(scheduler, priority, this, task).submit();
    }

    /** Waits for a slot and runs the task. */
    public T run() throws Exception {
        var unused = future.whenComplete((value, e) -> LockSupport.unpark(thread));
        while (command == null && !future.isDone()) {
            LockSupport.park(scheduler);
            if (Thread.interrupted()) interrupted();
        }
        return end();
    }

    /**
     * As {@link #run()}, but waits so long at most.
     *
     * @throws TimeoutException if there was no slot in time; the task has not begun
     */
    public T run(long nanos, Supplier<String> onTimeout) throws Exception {
        var unused = future.whenComplete((value, e) -> LockSupport.unpark(thread));
        long start = System.nanoTime();
        while (command == null && !future.isDone()) {
            long left = nanos - (System.nanoTime() - start);
            if (left <= 0) {
                if (future.cancel(false)) throw new TimeoutException(onTimeout.get());
            } else {
                LockSupport.parkNanos(scheduler, left);
                if (Thread.interrupted()) interrupted();
            }
        }
        return end();
    }

    private void interrupted() throws InterruptedException {
        if (future.cancel(false)) throw new InterruptedException();
        thread.interrupt();
    }

    private T end() throws Exception {
        Runnable mine = command;
        if (mine != null) mine.run();
        return Stages.result(future);
    }

    @Override
    public void execute(Runnable command) {
        this.command = command;
        LockSupport.unpark(thread);
    }
}
