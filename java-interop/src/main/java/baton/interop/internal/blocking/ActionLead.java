package baton.interop.internal.blocking;

import baton.bridge.SyncBridge;
import baton.interop.internal.futures.Stages;
import baton.sync.Barrier;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;
import kotlinx.coroutines.Job;
import org.jspecify.annotations.Nullable;

/** The action of a barrier, for a thread that was the last to arrive and waits for it. */
public final class ActionLead implements BiConsumer<@Nullable Integer, @Nullable Throwable> {
    private final Thread thread = Thread.currentThread();
    private final Barrier barrier;
    private @Nullable Integer index;
    private @Nullable Throwable failure;

    /** Written after the two others. */
    private volatile boolean isDone;

    public ActionLead(Barrier barrier) {
        this.barrier = barrier;
    }

    /**
     * Runs the action and waits until it has ended. An interrupt cancels it; the call then ends as the action did.
     *
     * @throws InterruptedException if the action was cancelled by an interrupt
     */
    public int await(Object granted) throws InterruptedException {
        Job job = SyncBridge.lead(barrier, granted, this);
        boolean interrupted = false;
        while (!isDone) {
            LockSupport.park(barrier);
            if (Thread.interrupted()) {
                interrupted = true;
                job.cancel(new CancellationException(
                        "action of " + barrier + " was cancelled: the thread of its last party was interrupted"));
            }
        }
        Throwable why = failure;
        if (interrupted && why instanceof CancellationException) throw new InterruptedException();
        if (interrupted) thread.interrupt();
        Integer result = index;
        if (result != null) return result;
        Exception e = Stages.asException(why);
        throw e instanceof RuntimeException unchecked ? unchecked : new CompletionException(e);
    }

    @Override
    public void accept(@Nullable Integer index, @Nullable Throwable failure) {
        this.index = index;
        this.failure = failure;
        isDone = true;
        LockSupport.unpark(thread);
    }
}
