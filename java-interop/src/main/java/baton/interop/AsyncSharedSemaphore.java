package baton.interop;

import baton.PermitTimeoutException;
import baton.interop.internal.futures.Late;
import baton.interop.internal.futures.SharedCallFuture;
import baton.shared.SharedPermit;
import baton.shared.SharedRegionException;
import baton.shared.SharedSemaphore;
import baton.shared.bridge.SharedBridge;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The futures of a {@link SharedSemaphore}: so many permits for all processes together. Its class describes order,
 * death and memory; {@link #kotlin()} has the calls that block.
 *
 * <pre>{@code
 * AsyncSharedSemaphore uplink = region.semaphore("uplink", 10);
 * CompletableFuture<Void> sent = uplink.acquire().thenCompose(permit -> send(file).whenComplete((r, e) -> permit.close()));
 * }</pre>
 *
 * <p><i>Cancellation.</i> Cancelling the future, completing it from outside, or letting {@code orTimeout} expire
 * withdraws the request. Permits that come at the same moment go back.
 *
 * <p><i>Callbacks.</i> Dependents of a future that had to wait run on a callback thread. They must not block for long.
 *
 * <p>All methods may be called from any thread.
 */
@SuppressWarnings("exports") // of baton.shared, which the callers require
public final class AsyncSharedSemaphore {
    private final SharedSemaphore semaphore;

    private AsyncSharedSemaphore(SharedSemaphore semaphore) {
        this.semaphore = semaphore;
    }

    /** The Java API of the given semaphore; the two share all state. */
    public static AsyncSharedSemaphore of(SharedSemaphore semaphore) {
        return new AsyncSharedSemaphore(Objects.requireNonNull(semaphore, "semaphore"));
    }

    /** The Kotlin semaphore behind this. */
    public SharedSemaphore kotlin() {
        return semaphore;
    }

    /** A future of one permit; see {@link #acquire(int)}. */
    public CompletableFuture<SharedPermit> acquire() {
        return acquire(1);
    }

    /**
     * A future that completes when this caller holds the permits. It fails with {@link SharedRegionException} if the
     * region has ended, or ends while the request waits.
     *
     * @throws IllegalArgumentException if {@code permits} is below 1 or above those of the semaphore
     */
    public CompletableFuture<SharedPermit> acquire(int permits) {
        return request(permits, null);
    }

    /**
     * As {@link #acquire(int)}, but fails with {@link PermitTimeoutException} if the permits are not granted in time; then
     * this caller does not hold them. With zero or less it succeeds or fails at once. The timeout is rounded up to
     * whole milliseconds.
     *
     * @throws IllegalArgumentException if {@code permits} is below 1 or above those of the semaphore
     */
    public CompletableFuture<SharedPermit> acquire(int permits, Duration timeout) {
        return request(permits, Objects.requireNonNull(timeout, "timeout"));
    }

    private CompletableFuture<SharedPermit> request(int permits, @Nullable Duration timeout) {
        try {
            SharedPermit atOnce = semaphore.tryAcquire(permits);
            if (atOnce != null) return CompletableFuture.completedFuture(atOnce);
        } catch (SharedRegionException e) {
            return CompletableFuture.failedFuture(e);
        }
        return SharedCallFuture.start(
                "acquire",
                SharedBridge.labelOf(semaphore),
                semaphore,
                done -> SharedBridge.acquire(
                        semaphore, permits, timeout, () -> Late.acquire(permits, timeout, semaphore), done));
    }

    /** One permit, if that needs no waiting; see {@link #tryAcquire(int)}. */
    public Optional<SharedPermit> tryAcquire() {
        return tryAcquire(1);
    }

    /**
     * The permits, if that needs no waiting. It may take those of a dead process, and finds a death within 25 ms of
     * repeated calls.
     *
     * @throws IllegalArgumentException if {@code permits} is below 1 or above those of the semaphore
     * @throws SharedRegionException if the region has ended
     */
    public Optional<SharedPermit> tryAcquire(int permits) {
        return Optional.ofNullable(semaphore.tryAcquire(permits));
    }

    /**
     * The permits that are free now, without those of a dead process that no caller has taken back.
     *
     * @throws SharedRegionException if the region has ended
     */
    public int availablePermits() {
        return semaphore.getAvailablePermits();
    }

    @Override
    public String toString() {
        return "Async" + semaphore;
    }
}
