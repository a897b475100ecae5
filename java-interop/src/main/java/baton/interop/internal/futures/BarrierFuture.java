package baton.interop.internal.futures;

import baton.bridge.SyncBridge;
import baton.sync.Barrier;
import baton.sync.BarrierBrokenException;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import kotlinx.coroutines.Job;
import org.jspecify.annotations.Nullable;

/**
 * The future of a party of a barrier. The party waits in the barrier's queue. Its grant is its arrival index, or the
 * generation whose action it has to run first.
 */
public final class BarrierFuture extends RevocableFuture<Integer> {
    private final Barrier barrier;
    private final @Nullable WaiterFuture<Object> grant;

    /** The caller's context, or null. */
    private final @Nullable Executor context;

    private volatile @Nullable Job running;

    private BarrierFuture(Barrier barrier, @Nullable WaiterFuture<Object> grant) {
        this.barrier = barrier;
        this.grant = grant;
        this.context = grant == null ? CallerContext.ofMadeRequest() : grant.executor();
    }

    /** Arrives; the executor completes a future that had to wait, null means the releasing thread. */
    public static CompletableFuture<Integer> arrive(
            Barrier barrier, @Nullable Executor executor, @Nullable Duration timeout) {
        Supplier<TimeoutException> late = timeout == null ? null : () -> Late.arrive(timeout, barrier);
        if (late != null) {
            boolean isOver = Timeout.isOver(timeout);
            try {
                // A party that need not wait is not timed out, however short the timeout is.
                Object granted = SyncBridge.arriveNow(barrier, isOver);
                if (granted != null) return of(barrier, granted);
            } catch (BarrierBrokenException e) {
                return CompletableFuture.failedFuture(e);
            }
            if (isOver) return CompletableFuture.failedFuture(late.get());
        }
        WaiterFuture<Object> grant = new WaiterFuture<>(SyncBridge.of(barrier), 1, null, null, executor);
        grant.start(timeout, late);
        BarrierFuture arrival = new BarrierFuture(barrier, grant);
        var unused = grant.whenComplete(arrival::decided);
        return arrival;
    }

    /** The future of a party that need not wait. */
    private static CompletableFuture<Integer> of(Barrier barrier, Object granted) {
        BarrierFuture arrival = new BarrierFuture(barrier, null);
        arrival.decided(granted, null);
        return arrival;
    }

    private void decided(@Nullable Object granted, @Nullable Throwable failure) {
        if (granted instanceof Integer index) succeed(index);
        else if (granted != null) runAction(granted);
        // A cancelled grant was withdrawn, and the withdrawing thread completes this.
        else if (failure != null && !(failure instanceof CancellationException)) fail(failure);
    }

    @Override
    protected String call() {
        return grant == null ? "arrive of " + barrier : grant.call();
    }

    @Override
    protected String description() {
        return "arrive of " + barrier;
    }

    @Override
    protected <E extends Throwable> E traced(E failure) {
        return grant == null ? failure : grant.traced(failure);
    }

    private CancellationException actionCancelled() {
        return new CancellationException("action of " + barrier + " was cancelled: the future of its last party was");
    }

    private void runAction(Object generation) {
        Job job = SyncBridge.lead(
                barrier,
                generation,
                (index, failure) -> CallerContext.runFor(context, () -> {
                    if (failure == null) succeed(index);
                    else fail(failure);
                }));
        running = job;
        if (isCancelled()) job.cancel(actionCancelled());
    }

    /** Does nothing once this runs the action: the arrival is final. */
    @Override
    protected void withdraw() {
        if (grant != null) grant.cancel(false);
    }

    @Override
    protected void cancelRunning() {
        Job job = running;
        if (job != null) job.cancel(actionCancelled());
    }

    /** Does not cancel the action: the arrival still counts for the other parties. */
    @Override
    protected void completedFromOutside() {}
}
