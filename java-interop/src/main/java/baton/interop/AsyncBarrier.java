package baton.interop;

import baton.bridge.SyncBridge;
import baton.interop.internal.futures.BarrierFuture;
import baton.interop.internal.futures.Timeout;
import baton.interop.internal.futures.WaiterFuture;
import baton.sync.Barrier;
import baton.sync.BarrierBrokenException;
import baton.sync.BarrierCancellation;
import baton.sync.BarrierTimeoutException;
import baton.waiting.WaitCore;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A {@link Barrier} for Java: whoever arrives gets a {@link CompletableFuture} that completes when all parties have.
 *
 * <p>It has no state of its own: Java futures and Kotlin coroutines that use the same barrier are parties of the same
 * generation, and are let go in the order in which they came. No method blocks; who wants to block
 * calls {@code join()}.
 *
 * <p><i>Cancellation.</i> Cancelling the future, completing it from outside, and {@code orTimeout} take the arrival
 * back, or break the barrier: see {@link BarrierCancellation}. Cancelling the future of the last party while the action
 * runs cancels the action's stage if it can be, and breaks the barrier; completing that future from outside changes
 * nothing for the others.
 *
 * <p><i>CallbackExecutor, memory.</i> As for {@link AsyncSemaphore}.
 */
public final class AsyncBarrier {
    private final Barrier barrier;
    private final WaitCore core;

    private AsyncBarrier(Barrier barrier) {
        this.barrier = barrier;
        this.core = SyncBridge.of(barrier);
    }

    /** The Java face of that very barrier. */
    public static AsyncBarrier of(Barrier barrier) {
        return new AsyncBarrier(Objects.requireNonNull(barrier, "barrier"));
    }

    /**
     * A new barrier, at which a party takes its arrival back if it is cancelled.
     *
     * @throws IllegalArgumentException if {@code parties} is below 1
     */
    public static AsyncBarrier create(int parties) {
        return create(parties, BarrierCancellation.RETRACT, null);
    }

    /**
     * A new barrier.
     *
     * @param name shown by messages and {@code toString}, or null
     * @throws IllegalArgumentException if {@code parties} is below 1
     */
    public static AsyncBarrier create(int parties, BarrierCancellation onCancel, @Nullable String name) {
        return of(new Barrier(parties, Objects.requireNonNull(onCancel, "onCancel"), name, null));
    }

    /**
     * As {@link #create(int)}, with an action: the last party runs it each time all have arrived, and nobody is let go
     * before its stage has completed. If that fails, or the action throws instead of returning one, the barrier breaks.
     *
     * @throws IllegalArgumentException if {@code parties} is below 1
     */
    public static AsyncBarrier create(int parties, Supplier<? extends CompletionStage<?>> action) {
        return create(parties, BarrierCancellation.RETRACT, null, action);
    }

    /**
     * As {@link #create(int, Supplier)}.
     *
     * @param name shown by messages and {@code toString}, or null
     * @throws IllegalArgumentException if {@code parties} is below 1
     */
    public static AsyncBarrier create(
            int parties,
            BarrierCancellation onCancel,
            @Nullable String name,
            Supplier<? extends CompletionStage<?>> action) {
        Objects.requireNonNull(onCancel, "onCancel");
        Objects.requireNonNull(action, "action");
        return of(SyncBridge.barrierOf(parties, onCancel, name, action));
    }

    /** The barrier behind this face. */
    public Barrier kotlin() {
        return barrier;
    }

    /**
     * Arrives. The future completes when the others have too and the action has ended; with how many were still
     * missing: the first party's with {@code parties - 1}, the last one's with 0. It fails with {@link
     * BarrierBrokenException} if the barrier is broken, before or meanwhile, or is {@link #reset} meanwhile; the last
     * party's, with what the action failed with.
     */
    public CompletableFuture<Integer> arrive() {
        return BarrierFuture.of(barrier, WaiterFuture.enqueue(core, 1, null, null, null));
    }

    /**
     * As {@link #arrive()}; when it had to wait, the future is completed on {@code executor}, and by whoever lets it go
     * if that rejects it.
     */
    public CompletableFuture<Integer> arrive(Executor executor) {
        Objects.requireNonNull(executor, "executor");
        return BarrierFuture.of(barrier, WaiterFuture.enqueue(core, 1, null, null, executor));
    }

    /**
     * As {@link #arrive()}, but fails with {@link BarrierTimeoutException} if it is not let go in time; what then
     * becomes of the barrier, see {@link BarrierCancellation}. Zero and less mean that all others must be here already.
     * The last party is not timed out while its action runs. The timeout is rounded up to whole milliseconds.
     */
    public CompletableFuture<Integer> arrive(Duration timeout) {
        long millis = Timeout.millis(timeout);
        Supplier<String> message = () -> "not all arrived within " + timeout + ": " + barrier;
        try {
            // However short the time is, it is not over for one that need not wait.
            Object granted = SyncBridge.arriveNow(barrier, millis == 0);
            if (granted != null) return BarrierFuture.of(barrier, granted);
        } catch (BarrierBrokenException e) {
            return CompletableFuture.failedFuture(e);
        }
        if (millis == 0) return CompletableFuture.failedFuture(new BarrierTimeoutException(message.get()));
        return BarrierFuture.of(barrier, WaiterFuture.<Object>enqueue(core, 1, null, null, millis, message));
    }

    /** Breaks it: those who wait fail with {@link BarrierBrokenException}. A broken barrier stays as it is. */
    public void abort() {
        barrier.abort(null);
    }

    /** As {@link #abort()}, with a cause that the exceptions carry. */
    public void abort(Throwable cause) {
        barrier.abort(Objects.requireNonNull(cause, "cause"));
    }

    /** Makes it whole at once, broken or not. Those who wait fail with {@link BarrierBrokenException}. */
    public void reset() {
        barrier.reset();
    }

    /** Whether it refuses arrivals, until {@link #reset}. */
    public boolean isBroken() {
        return barrier.isBroken();
    }

    /** How many must arrive. */
    public int parties() {
        return barrier.getParties();
    }

    /** What happens when a party leaves. */
    public BarrierCancellation onCancel() {
        return barrier.getOnCancel();
    }

    /** How many wait here, Java and Kotlin callers, for others to come or for the action to end. */
    public int waiting() {
        return barrier.getWaiting();
    }

    @Override
    public String toString() {
        return "Async" + barrier;
    }
}
