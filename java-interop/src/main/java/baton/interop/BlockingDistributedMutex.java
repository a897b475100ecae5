package baton.interop;

import baton.PermitTimeoutException;
import baton.distributed.DistributedMutex;
import baton.distributed.Lease;
import baton.distributed.LeaseLostException;
import baton.interop.internal.futures.JobFuture;
import baton.interop.internal.futures.LeaseRequests;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * A {@link DistributedMutex} for threads that may block. Made by {@link AsyncDistributedMutex#blocking()}. Interrupts and
 * losses are those of a {@link BlockingDistributedSemaphore}.
 */
@SuppressWarnings("exports") // of baton.distributed, which the callers require
public final class BlockingDistributedMutex {
    private final DistributedMutex mutex;
    private final LeaseRequests requests;

    BlockingDistributedMutex(DistributedMutex mutex, LeaseRequests requests) {
        this.mutex = mutex;
        this.requests = requests;
    }

    /** Locks it, waiting if necessary. */
    public Lease lock() throws InterruptedException {
        return JobFuture.<Lease, RuntimeException>await(() -> requests.acquire(1, null));
    }

    /**
     * As {@link #lock()}, but waits {@code timeout} at most. With zero or less it looks into the store once.
     *
     * @throws PermitTimeoutException if the mutex was not granted in time; the message names the member that has it
     */
    public Lease lock(Duration timeout) throws InterruptedException, PermitTimeoutException {
        Objects.requireNonNull(timeout, "timeout");
        return JobFuture.<Lease, PermitTimeoutException>await(() -> requests.acquire(1, timeout));
    }

    /** Locks it if no other holder must unlock it, after at most one look into the store. */
    public Optional<Lease> tryLock() throws InterruptedException {
        return JobFuture.<Optional<Lease>, RuntimeException>await(() -> requests.tryAcquire(1));
    }

    /**
     * Runs {@code action} while holding the mutex, and returns its value.
     *
     * @throws LeaseLostException once the action has ended with a value, if the lease was lost before
     * @throws Exception as {@code action}; the mutex is unlocked then
     */
    public <T extends @Nullable Object> T call(Callable<T> action) throws Exception {
        Objects.requireNonNull(action, "action");
        return LeaseRequests.callHolding(lock(), action);
    }

    /**
     * As {@link #call(Callable)}, but waits {@code timeout} at most for the mutex.
     *
     * @throws PermitTimeoutException if it was not granted in time; {@code action} has not run
     */
    public <T extends @Nullable Object> T call(Duration timeout, Callable<T> action) throws Exception {
        Objects.requireNonNull(action, "action");
        return LeaseRequests.callHolding(lock(timeout), action);
    }

    @Override
    public String toString() {
        return "Blocking" + mutex;
    }
}
