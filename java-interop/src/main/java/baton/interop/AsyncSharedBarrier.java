package baton.interop;

import baton.interop.internal.futures.SharedCallFuture;
import baton.shared.SharedBarrier;
import baton.shared.SharedRegionException;
import baton.shared.bridge.SharedBridge;
import baton.sync.BarrierBrokenException;
import baton.sync.BarrierTimeoutException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

/**
 * A {@link SharedBarrier} for Java: parties of several processes wait for each other, phase by phase. Its class describes
 * order, breaking, death and memory.
 *
 * <pre>{@code
 * region.barrier("start", 4).arrive().thenAccept(missing -> begin());
 * }</pre>
 *
 * <p><i>Cancellation.</i> Cancelling the future, completing it from outside, or letting {@code orTimeout} expire breaks
 * the barrier for all, at once or a moment later, unless it has tripped.
 *
 * <p><i>Callbacks.</i> Dependents of a future that had to wait run on a callback thread. They must not block for long.
 *
 * <p>All methods may be called from any thread.
 */
@SuppressWarnings("exports") // of baton.shared, which the callers require
public final class AsyncSharedBarrier {
    private final SharedBarrier barrier;

    private AsyncSharedBarrier(SharedBarrier barrier) {
        this.barrier = barrier;
    }

    /** The Java API of the given barrier; the two share all state. */
    public static AsyncSharedBarrier of(SharedBarrier barrier) {
        return new AsyncSharedBarrier(Objects.requireNonNull(barrier, "barrier"));
    }

    /** The Kotlin barrier behind this. */
    public SharedBarrier kotlin() {
        return barrier;
    }

    /**
     * Arrives. The future completes when all parties have arrived, with how many were still missing: the first one gets
     * {@code parties - 1}, the last one 0. It fails with {@link BarrierBrokenException} if the barrier is broken or is
     * reset, and with {@link SharedRegionException} if the region has ended or ends.
     */
    public CompletableFuture<Integer> arrive() {
        return SharedCallFuture.start(
                "arrive", SharedBridge.labelOf(barrier), barrier, done -> SharedBridge.arrive(barrier, null, done));
    }

    /**
     * As {@link #arrive()}, but fails with {@link BarrierTimeoutException}, and breaks the barrier, if it does not trip
     * in time. With zero or less all others must have arrived already. The timeout is rounded up to whole milliseconds.
     */
    public CompletableFuture<Integer> arrive(Duration timeout) {
        Objects.requireNonNull(timeout, "timeout");
        return SharedCallFuture.start(
                "arrive", SharedBridge.labelOf(barrier), barrier, done -> SharedBridge.arrive(barrier, timeout, done));
    }

    /**
     * Arrives, and blocks the thread while it waits for the other parties; returns as {@link #arrive()}. A virtual thread
     * leaves its carrier.
     *
     * @throws InterruptedException if the thread is interrupted: before it arrives, or while it waits, which breaks the
     *     barrier unless that has tripped
     * @throws BarrierBrokenException if the barrier is broken or is reset
     * @throws SharedRegionException if the region has ended, or ends while the caller waits
     */
    public int arriveBlocking() throws InterruptedException {
        return barrier.arriveBlocking();
    }

    /**
     * As {@link #arriveBlocking()}, but waits {@code timeout} at most. With zero or less all others must have arrived
     * already. A timeout breaks the barrier.
     *
     * @throws BarrierTimeoutException if the time is over before the barrier trips
     */
    public int arriveBlocking(Duration timeout) throws InterruptedException, BarrierTimeoutException {
        return barrier.arriveBlocking(Objects.requireNonNull(timeout, "timeout"));
    }

    /**
     * Makes the barrier usable again at once. The futures of parties that wait fail with
     * {@link BarrierBrokenException}.
     *
     * @throws SharedRegionException if the region has ended
     */
    public void reset() {
        barrier.reset();
    }

    /**
     * Whether the barrier refuses arrivals, until {@link #reset()}.
     *
     * @throws SharedRegionException if the region has ended
     */
    public boolean isBroken() {
        return barrier.isBroken();
    }

    @Override
    public String toString() {
        return "Async" + barrier;
    }
}
