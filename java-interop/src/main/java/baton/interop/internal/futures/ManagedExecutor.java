package baton.interop.internal.futures;

import baton.waiting.threads.Trampoline;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.RunnableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The lifecycle of an {@link java.util.concurrent.ExecutorService} without threads of its own: the commands that have
 * not ended, shutdown, termination and interrupts. The subclass runs the commands.
 *
 * <p>A work is in {@link #works} from before it is accepted until it has ended. It is accepted if {@link #shutdown} is
 * false after that. The executor has terminated once {@link #shutdown} is true and then {@link #works} is empty. So the
 * accepting thread sees the shutdown, or the terminating thread sees the work.
 */
abstract class ManagedExecutor extends AbstractExecutorService {
    private final Set<Work> works = ConcurrentHashMap.newKeySet();

    /** The number of works made so far. It numbers them in their order. */
    private final AtomicLong workCount = new AtomicLong();

    private final CountDownLatch terminated = new CountDownLatch(1);
    private volatile boolean shutdown;

    /**
     * After {@link #shutdownNow}: no work begins, and running ones are interrupted. Written before {@link #shutdown}.
     */
    private volatile boolean stopped;

    /** Submits the work, to be run once. Returns null, or the reason why it never runs. */
    abstract @Nullable Throwable submitWork(Work work);

    /**
     * The work will not run: takes it out of its queue where the queue allows that. Another thread may be submitting it.
     */
    void workDropped(Work work) {}

    @Override
    public final void execute(Runnable command) {
        Work work = new Work(Objects.requireNonNull(command, "command"));
        if (command instanceof Submitted<?> future) future.work = work;
        works.add(work);
        if (shutdown && work.dropWork()) throw new RejectedExecutionException("shut down: " + this);
        Throwable refusal = submitWork(work);
        if (refusal != null && work.dropWork()) throw new RejectedExecutionException("refused: " + this, refusal);
    }

    @Override
    public final void shutdown() {
        shutdown = true;
        terminateIfEmpty();
    }

    @Override
    public final List<Runnable> shutdownNow() {
        stopped = true;
        shutdown = true;
        List<Work> unended = new ArrayList<>(works);
        unended.sort(Comparator.comparingLong(work -> work.number));
        List<Runnable> dropped = new ArrayList<>();
        for (Work work : unended) {
            if (work.dropWork()) dropped.add(work.command);
            else work.interruption.interrupt();
        }
        terminateIfEmpty();
        return dropped;
    }

    private void terminateIfEmpty() {
        // Not isEmpty(): while works come and go, it may return true although there is always one.
        if (shutdown && !works.iterator().hasNext()) terminated.countDown();
    }

    @Override
    public final boolean isShutdown() {
        return shutdown;
    }

    @Override
    public final boolean isTerminated() {
        return terminated.getCount() == 0;
    }

    @Override
    public final boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
        return terminated.await(timeout, Objects.requireNonNull(unit, "unit"));
    }

    /** Public for an executor that hands its commands to this one. */
    @Override
    public final <T extends @Nullable Object> RunnableFuture<T> newTaskFor(Callable<T> call) {
        return new Submitted<>(call);
    }

    @Override
    public final <T extends @Nullable Object> RunnableFuture<T> newTaskFor(Runnable command, T value) {
        return new Submitted<>(Executors.callable(command, value));
    }

    /** The state of the lifecycle, and the number of works that have not ended, in words. */
    final String state() {
        String state = isTerminated() ? "terminated, " : shutdown ? "shut down, " : "";
        return state + "unended = " + works.size();
    }

    /** The future of a {@code submit}. A cancel while it waits drops its work, see {@link #workDropped}. */
    private static final class Submitted<T extends @Nullable Object> extends FutureTask<T> {
        volatile ManagedExecutor.@Nullable Work work;

        Submitted(Callable<T> call) {
            super(call);
        }

        @Override
        protected void done() {
            Work mine = work;
            if (mine != null && isCancelled()) mine.dropWork();
        }
    }

    /** A command. It moves from WAITING to RUNNING and ENDED, or from WAITING to ENDED when it is dropped. */
    final class Work implements Runnable {
        private static final int WAITING = 0;
        private static final int RUNNING = 1;
        private static final int ENDED = 2;

        private final long number = workCount.getAndIncrement();
        final Runnable command;

        /** The command in the context of the thread that submits it. */
        private final Runnable action;

        private final AtomicInteger state = new AtomicInteger(WAITING);

        /** The future under which the subclass has submitted the work, if the subclass keeps one. */
        volatile @Nullable Future<?> handle;

        /** By {@link #shutdownNow}. The thread is a borrowed one, which goes on with other commands. */
        private final Interruption interruption = new Interruption();

        Work(Runnable command) {
            this.command = command;
            this.action = CallerContext.runnable(command);
        }

        @Override
        public void run() {
            run(() -> {});
        }

        /**
         * Runs the command, if the work was not dropped.
         *
         * @param release called after the command, or instead of it; before other threads see the end of the work
         */
        void run(Runnable release) {
            // A work that waits when the executor is stopped is left to the stopping thread, which returns it.
            boolean begins = !stopped && state.compareAndSet(WAITING, RUNNING);
            if (begins) runCommand();
            try {
                release.run();
            } finally {
                if (begins) endWork();
            }
        }

        private void runCommand() {
            interruption.begin();
            try {
                action.run();
            } catch (Throwable e) {
                Trampoline.report(e);
            } finally {
                boolean unused = interruption.end();
                // Its future may have interrupted the thread, too.
                if (command instanceof Future<?> future && future.isCancelled()) unused = Thread.interrupted();
            }
        }

        /** Drops the work if it has not begun. True if this call has dropped it: then it never runs. */
        boolean dropWork() {
            if (!state.compareAndSet(WAITING, ENDED)) return false;
            workDropped(this);
            endWork();
            return true;
        }

        boolean isEnded() {
            return state.get() == ENDED;
        }

        private void endWork() {
            state.set(ENDED);
            works.remove(this);
            terminateIfEmpty();
        }
    }
}
