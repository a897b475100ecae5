package baton.interop;

import baton.PermitTimeoutException;
import baton.distributed.DistributedSemaphore;
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
 * A {@link DistributedSemaphore} for threads that may block: virtual threads above all. Made by {@link
 * AsyncDistributedSemaphore#blocking()}.
 *
 * <pre>{@code
 * try (Lease lease = atMostFive.blocking().acquire(2, Duration.ofMillis(50))) {
 *     lease.check();
 * }
 * }</pre>
 *
 * <p><i>Interrupts.</i> An interrupt ends the wait: the request is withdrawn, and nothing is held when {@link
 * InterruptedException} is thrown. If the lease was granted just before, the call returns it, and the thread stays
 * interrupted.
 *
 * <p><i>Loss.</i> A thread is not interrupted when its lease is lost: use {@link Lease#check()} and {@link
 * Lease#onLost(Runnable)}.
 */
@SuppressWarnings("exports") // of baton.distributed, which the callers require
public final class BlockingDistributedSemaphore {
    private final DistributedSemaphore semaphore;
    private final LeaseRequests requests;

    BlockingDistributedSemaphore(DistributedSemaphore semaphore, LeaseRequests requests) {
        this.semaphore = semaphore;
        this.requests = requests;
    }

    /** Waits for one permit. */
    public Lease acquire() throws InterruptedException {
        return acquire(1);
    }

    /**
     * Waits for {@code permits} permits.
     *
     * @throws IllegalArgumentException if {@code permits} is below 1 or above those of the semaphore
     */
    public Lease acquire(int permits) throws InterruptedException {
        return JobFuture.<Lease, RuntimeException>await(() -> requests.acquire(permits, null));
    }

    /** As {@link #acquire(int, Duration)}, for one permit. */
    public Lease acquire(Duration timeout) throws InterruptedException, PermitTimeoutException {
        return acquire(1, timeout);
    }

    /**
     * As {@link #acquire(int)}, but waits {@code timeout} at most. With zero or less it looks into the store once.
     *
     * @throws PermitTimeoutException if the permits were not granted in time; nothing is held
     */
    public Lease acquire(int permits, Duration timeout) throws InterruptedException, PermitTimeoutException {
        Objects.requireNonNull(timeout, "timeout");
        return JobFuture.<Lease, PermitTimeoutException>await(() -> requests.acquire(permits, timeout));
    }

    /** As {@link #tryAcquire(int)}, for one permit. */
    public Optional<Lease> tryAcquire() throws InterruptedException {
        return tryAcquire(1);
    }

    /** {@code permits} permits if no other holder must release any, after at most one look into the store. */
    public Optional<Lease> tryAcquire(int permits) throws InterruptedException {
        return JobFuture.<Optional<Lease>, RuntimeException>await(() -> requests.tryAcquire(permits));
    }

    /**
     * Runs {@code action} while holding one permit, and returns its value.
     *
     * @throws LeaseLostException once the action has ended with a value, if the lease was lost before
     * @throws Exception as {@code action}; the permit is back then
     */
    public <T extends @Nullable Object> T call(Callable<T> action) throws Exception {
        Objects.requireNonNull(action, "action");
        return LeaseRequests.callHolding(acquire(), action);
    }

    /**
     * As {@link #call(Callable)}, but waits {@code timeout} at most for the permit.
     *
     * @throws PermitTimeoutException if the permit was not granted in time; {@code action} has not run
     */
    public <T extends @Nullable Object> T call(Duration timeout, Callable<T> action) throws Exception {
        Objects.requireNonNull(action, "action");
        return LeaseRequests.callHolding(acquire(timeout), action);
    }

    @Override
    public String toString() {
        return "Blocking" + semaphore;
    }
}
