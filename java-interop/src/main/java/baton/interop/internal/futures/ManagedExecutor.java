package baton.interop.internal.futures;

import baton.waiting.coroutine.Trampoline;
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
 * The life of an {@link java.util.concurrent.ExecutorService} that has no threads of its own: what was accepted and
 * has not ended, shutdown, termination and interrupts. Who runs it is for the subclass to say.
 *
 * <p>A work is in {@link #works} from before it is accepted until it has ended. It is accepted if the executor is
 * found open after that, and the executor has terminated once it is shut down and {@link #works} is empty: so one of
 * the two sees the other.
 */
abstract class ManagedExecutor extends AbstractExecutorService {
    private final Set<Work> works = ConcurrentHashMap.newKeySet();

    /** How many works there were, by which they have their order. */
    private final AtomicLong made = new AtomicLong();

    private final CountDownLatch terminated = new CountDownLatch(1);
    private volatile boolean shut;

    /** Whether nothing that waits may begin, and what runs is to be interrupted. Written before {@link #shut}. */
    private volatile boolean stopped;

    /** Has {@code work} run once, some time; or answers why it never runs. */
    abstract @Nullable Throwable handOver(Work work);

    /** {@code work}, which was handed over, or is just being, will not run: takes it out of where it waits. */
    void withdrawn(Work work) {}

    @Override
    public final void execute(Runnable command) {
        Work work = new Work(Objects.requireNonNull(command, "command"));
        if (command instanceof Submitted<?> future) future.work = work;
        works.add(work);
        if (shut && work.drop()) throw new RejectedExecutionException("shut down: " + this);
        Throwable refusal = handOver(work);
        if (refusal != null && work.drop()) throw new RejectedExecutionException("refused: " + this, refusal);
    }

    @Override
    public final void shutdown() {
        shut = true;
        endIfEmpty();
    }

    @Override
    public final List<Runnable> shutdownNow() {
        stopped = true;
        shut = true;
        List<Work> left = new ArrayList<>(works);
        left.sort(Comparator.comparingLong(work -> work.number));
        List<Runnable> dropped = new ArrayList<>();
        for (Work work : left) {
            if (work.drop()) dropped.add(work.command);
            else work.interrupt();
        }
        endIfEmpty();
        return dropped;
    }

    private void endIfEmpty() {
        // Not isEmpty(), which may say so while works come and go although there is always one.
        if (shut && !works.iterator().hasNext()) terminated.countDown();
    }

    @Override
    public final boolean isShutdown() {
        return shut;
    }

    @Override
    public final boolean isTerminated() {
        return terminated.getCount() == 0;
    }

    @Override
    public final boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
        return terminated.await(timeout, unit);
    }

    @Override
    protected <T extends @Nullable Object> RunnableFuture<T> newTaskFor(Callable<T> call) {
        return new Submitted<>(call);
    }

    @Override
    protected <T extends @Nullable Object> RunnableFuture<T> newTaskFor(Runnable command, T value) {
        return new Submitted<>(Executors.callable(command, value));
    }

    /** How its life is, and how much has not ended. */
    final String state() {
        String life = isTerminated() ? "terminated, " : shut ? "shut down, " : "";
        return life + "unended = " + works.size();
    }

    /** The future of a {@code submit}: cancelled while it waits, it takes its work out of the queue at once. */
    private static final class Submitted<T extends @Nullable Object> extends FutureTask<T> {
        volatile ManagedExecutor.@Nullable Work work;

        Submitted(Callable<T> call) {
            super(call);
        }

        @Override
        protected void done() {
            Work mine = work;
            if (mine != null && isCancelled()) mine.drop();
        }
    }

    /** A command on its way: from WAITING to RUNNING and ENDED, or to ENDED at once when it is dropped. */
    final class Work implements Runnable {
        private static final int WAITING = 0;
        private static final int RUNNING = 1;
        private static final int ENDED = 2;

        private final long number = made.getAndIncrement();
        final Runnable command;
        private final AtomicInteger state = new AtomicInteger(WAITING);

        /** What the subclass has handed it over as, if it keeps that. */
        volatile @Nullable Future<?> handle;

        /** Who runs it, while it does. Guarded by this work. */
        private @Nullable Thread runner;

        /** Whether we have interrupted the runner. Guarded by this work. */
        private boolean interrupted;

        Work(Runnable command) {
            this.command = command;
        }

        @Override
        public void run() {
            run(() -> {});
        }

        /** @param leave gives back what the work has while it runs, also if it does not: before others see its end */
        void run(Runnable leave) {
            // What waits when all is stopped is left to the thread that stops it, which returns it.
            boolean begins = !stopped && state.compareAndSet(WAITING, RUNNING);
            if (begins) runCommand();
            try {
                leave.run();
            } finally {
                if (begins) end();
            }
        }

        private void runCommand() {
            synchronized (this) {
                runner = Thread.currentThread();
            }
            // The thread that stops everything looks at the runner after that.
            if (stopped) interrupt();
            try {
                command.run();
            } catch (Throwable e) {
                Trampoline.report(e);
            } finally {
                leaveThread();
            }
        }

        /** The thread is not ours: an interrupt that was meant for the command must not reach what it runs next. */
        private synchronized void leaveThread() {
            runner = null;
            if (interrupted || (command instanceof Future<?> future && future.isCancelled())) {
                var unused = Thread.interrupted();
            }
        }

        synchronized void interrupt() {
            Thread running = runner;
            if (running == null) return;
            interrupted = true;
            running.interrupt();
        }

        /** Takes it out, if it has not begun; whether it will never run for that. */
        boolean drop() {
            if (!state.compareAndSet(WAITING, ENDED)) return false;
            withdrawn(this);
            end();
            return true;
        }

        boolean isEnded() {
            return state.get() == ENDED;
        }

        private void end() {
            state.set(ENDED);
            works.remove(this);
            endIfEmpty();
        }
    }
}
