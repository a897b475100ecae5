package baton.interop.internal.futures;

import kotlinx.coroutines.Job;
import org.jspecify.annotations.Nullable;

/** The future of a request that waits for other processes, by a job. */
abstract class SharedFuture<T extends @Nullable Object> extends RevocableFuture<T> {
    /** The wait for other processes; null until it has begun. */
    volatile @Nullable Job running;

    @Override
    protected void cancelRunning() {
        Job job = running;
        if (job != null) job.cancel(null);
    }
}
