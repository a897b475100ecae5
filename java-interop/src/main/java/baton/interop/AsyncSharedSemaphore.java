package baton.interop;

import baton.PermitTimeoutException;
import baton.interop.internal.futures.CallerContext;
import baton.interop.internal.futures.Late;
import baton.interop.internal.futures.SharedCallFuture;
import baton.interop.internal.futures.WithPermitFuture;
import baton.shared.SharedPermit;
import baton.shared.SharedRegionException;
import baton.shared.SharedSemaphore;
import baton.shared.bridge.SharedBridge;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A {@link SharedSemaphore} for Java: so many permits for all processes together. Its class describes order, death and
 * memory.
 *
 * <pre>{@code
 * AsyncSharedSemaphore uplink = region.semaphore("uplink", 10);
 * CompletableFuture<String> sent = uplink.withPermit(() -> send(file));
 * try (SharedPermit permit = uplink.acquireBlocking()) { // in a thread
 *     sendBlocking(file);
 * }
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

    /**
     * Runs {@code action} with one permit, and returns the permit when the action's stage has completed, however it
     * completes. The returned future completes as that stage does, or with what the action throws. Cancelling it before
     * the action has begun withdraws the request; afterwards that cancels the stage, if possible.
     */
    public <T extends @Nullable Object> CompletableFuture<T> withPermit(Supplier<? extends CompletionStage<T>> action) {
        return WithPermitFuture.run(CallerContext.supplier(action), request(1, null), null);
    }

    /**
     * As {@link #withPermit(Supplier)}, but fails with {@link PermitTimeoutException}, and never runs {@code action}, if
     * the permit is not granted in time. The action itself may take as long as it takes.
     */
    public <T extends @Nullable Object> CompletableFuture<T> withPermit(
            Supplier<? extends CompletionStage<T>> action, Duration timeout) {
        Objects.requireNonNull(timeout, "timeout");
        return WithPermitFuture.run(CallerContext.supplier(action), request(1, timeout), null);
    }

    /** As {@link #acquireBlocking(int)}, for one permit. */
    public SharedPermit acquireBlocking() throws InterruptedException {
        return acquireBlocking(1);
    }

    /**
     * Takes the permits, blocking the thread while it waits. A virtual thread leaves its carrier.
     *
     * @throws IllegalArgumentException if {@code permits} is below 1 or above those of the semaphore
     * @throws InterruptedException if the thread is interrupted before it holds the permits; it holds nothing then
     * @throws SharedRegionException if the region has ended, or ends while the caller waits
     */
    public SharedPermit acquireBlocking(int permits) throws InterruptedException {
        return semaphore.acquireBlocking(permits);
    }

    /**
     * As {@link #acquireBlocking(int)}, but waits {@code timeout} at most; empty if the permits were not free in time.
     * With zero or less it does not wait.
     *
     * @throws IllegalArgumentException if {@code permits} is below 1 or above those of the semaphore
     * @throws InterruptedException if the thread is interrupted before it holds the permits; it holds nothing then
     * @throws SharedRegionException if the region has ended, or ends while the caller waits
     */
    public Optional<SharedPermit> acquireBlocking(int permits, Duration timeout) throws InterruptedException {
        Objects.requireNonNull(timeout, "timeout");
        return Optional.ofNullable(semaphore.acquireBlocking(permits, timeout));
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

    /**
     * The processes that hold permits, by their ids, and how many each holds; see {@link SharedSemaphore#holders()}.
     *
     * @throws SharedRegionException if the region has ended
     */
    public Map<Long, Integer> holders() {
        return semaphore.holders();
    }

    @Override
    public String toString() {
        return "Async" + semaphore;
    }
}
