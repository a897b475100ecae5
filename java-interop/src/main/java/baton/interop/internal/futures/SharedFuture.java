package baton.interop.internal.futures;

import baton.shared.SharedRegionException;
import baton.waiting.Symbol;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import kotlinx.coroutines.Job;
import org.jspecify.annotations.Nullable;

/**
 * The future of a request that waits for other processes, by a job.
 *
 * <pre>
 *        the job ends with a result or a failure
 *  null ─────────────────────────────────────────▶ Decided
 *   │     a timer                                             a later result is discarded
 *   ├────────────────▶ TimeoutException, the failure of this once the job has ended
 *   └────────────────▶ WITHDRAWN, the withdrawing thread completes this
 *         another thread ends this
 * </pre>
 *
 * Every arrow is one compare-and-set. A thread that withdraws too late completes this as Decided: so a result is the
 * outcome of this future, or is discarded.
 */
abstract class SharedFuture<T extends @Nullable Object> extends RevocableFuture<T> {
    private static final VarHandle DECISION = FieldHandle.of(MethodHandles.lookup(), "decision", Object.class);

    private static final Object WITHDRAWN = new Symbol("WITHDRAWN");

    private volatile @Nullable Object decision;

    /** The wait for other processes; null until it has begun. */
    private volatile @Nullable Job running;

    /** The outcome of the job. */
    private final class Decided {
        private final @Nullable T result;
        private final @Nullable Throwable failure;

        Decided(@Nullable T result, @Nullable Throwable failure) {
            this.result = result;
            this.failure = failure;
        }

        void complete() {
            if (failure == null) succeed(result);
            else fail(traced(failure));
        }
    }

    /** The context in which this is completed; null for that of the completing thread. */
    abstract @Nullable Executor context();

    /** Gives back a result that nothing waits for any more. */
    abstract void discard(@Nullable T result);

    /** The request is withdrawn, and what waits for it is to end. */
    void stopWaiting() {
        cancelRunning();
    }

    @Override
    protected final void cancelRunning() {
        Job job = running;
        if (job != null) job.cancel(null);
    }

    /** The wait for other processes has begun. */
    final void waitBy(Job job) {
        running = job; // Before it reads the decision: a thread that withdraws the request reads the job after that.
        if (decision == WITHDRAWN || decision instanceof TimeoutException) job.cancel(null);
    }

    /** The job has ended. */
    final void decided(@Nullable T result, @Nullable Throwable failure) {
        if (!(failure instanceof CancellationException)) {
            Decided outcome = new Decided(result, failure);
            if (DECISION.compareAndSet(this, null, outcome)) {
                CallbackExecutor.run(context(), outcome::complete);
                return;
            }
            if (failure == null) CallbackExecutor.run(context(), () -> discardLate(result));
        }
        failIfLate();
    }

    private void discardLate(@Nullable T result) {
        try {
            discard(result);
        } catch (SharedRegionException e) {
            // The file was removed or cut: nothing is held.
        }
    }

    /** The wait has ended: fails this if the timer has withdrawn the request. */
    final void failIfLate() {
        if (decision instanceof TimeoutException late) CallbackExecutor.run(context(), () -> fail(late));
    }

    @Override
    protected final void withdraw() {
        withdrawAs(WITHDRAWN);
    }

    /** True for the one thread that withdraws the request. After a timer's, {@link #failIfLate} follows. */
    final boolean withdrawAs(Object end) {
        Object before = DECISION.compareAndExchange(this, null, end);
        if (before instanceof SharedFuture<?>.Decided outcome) CallerContext.runFor(context(), outcome::complete);
        if (before != null) return false;
        stopWaiting();
        return true;
    }
}
