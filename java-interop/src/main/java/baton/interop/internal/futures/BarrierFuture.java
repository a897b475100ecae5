package baton.interop.internal.futures;

import baton.bridge.SyncBridge;
import baton.sync.Barrier;
import baton.sync.BarrierTimeoutException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import kotlinx.coroutines.Job;
import org.jspecify.annotations.Nullable;

/**
 * The future of a party of a barrier. It waits in the barrier's own line; what it is granted there is its number, or
 * the generation for which it has to run the action first.
 */
public final class BarrierFuture extends RevocableFuture<Integer> {
    private final Barrier barrier;
    private final @Nullable WaiterFuture<Object> grant;
    private volatile @Nullable Job running;

    private BarrierFuture(Barrier barrier, @Nullable WaiterFuture<Object> grant) {
        this.barrier = barrier;
        this.grant = grant;
    }

    /** For a party that need not wait. */
    public static CompletableFuture<Integer> of(Barrier barrier, Object granted) {
        BarrierFuture arrival = new BarrierFuture(barrier, null);
        arrival.decided(granted, null);
        return arrival;
    }

    public static CompletableFuture<Integer> of(Barrier barrier, WaiterFuture<Object> grant) {
        BarrierFuture arrival = new BarrierFuture(barrier, grant);
        var unused = grant.whenComplete((granted, failure) -> arrival.decided(granted, failure));
        return arrival;
    }

    private void decided(@Nullable Object granted, @Nullable Throwable failure) {
        if (granted instanceof Integer index) succeed(index);
        else if (granted != null) lead(granted);
        else if (failure instanceof TimeoutException late) fail(new BarrierTimeoutException(late.getMessage()));
        // Withdrawn, if it was cancelled; and whoever withdrew it completes this.
        else if (failure != null && !(failure instanceof CancellationException)) fail(failure);
    }

    private void lead(Object generation) {
        Job job = SyncBridge.lead(barrier, generation, (index, failure) -> {
            if (failure == null) succeed(index);
            else fail(failure);
        });
        running = job;
        if (isCancelled()) job.cancel(new CancellationException());
    }

    /** Once it leads, there is nothing to take back. */
    @Override
    public void withdraw() {
        if (grant != null) grant.cancel(false);
    }

    @Override
    protected void cancelRunning() {
        Job job = running;
        if (job != null) job.cancel(new CancellationException());
    }
}
