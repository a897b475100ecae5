package baton.interop;

import baton.bridge.SyncBridge;
import baton.interop.internal.futures.BarrierFuture;
import baton.sync.Barrier;
import baton.sync.BarrierBrokenException;
import baton.sync.BarrierCancellation;
import baton.sync.BarrierTimeoutException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A {@link Barrier} for Java: an arriving party gets a {@link CompletableFuture} that completes when all parties have
 * arrived.
 *
 * <pre>{@code
 * AsyncBarrier barrier = AsyncBarrier.create(2, () -> CompletableFuture.runAsync(this::mergeResults));
 * CompletableFuture<Integer> index = computePart().thenCompose(part -> barrier.arrive());
 * }</pre>
 *
 * <p>It has no state of its own: Java futures and Kotlin coroutines that use the same barrier are parties of the same
 * generation, and are released in the order of their arrival. No method blocks; threads that may block use {@link
 * #blocking()}.
 *
 * <p><i>Cancellation.</i> Cancelling the future, completing it from outside, and {@code orTimeout} take the arrival
 * back, or break the barrier: see {@link BarrierCancellation}. Cancelling the future of the last party while the action
 * runs cancels the action's stage if that is possible, and breaks the barrier; completing that future from outside
 * changes nothing for the others.
 *
 * <p><i>Callbacks, memory.</i> As for {@link AsyncSemaphore}.
 */
public final class AsyncBarrier {
    private final Barrier barrier;

    private AsyncBarrier(Barrier barrier) {
        this.barrier = barrier;
    }

    /** The Java API of the given barrier; the two share all state. */
    public static AsyncBarrier of(Barrier barrier) {
        return new AsyncBarrier(Objects.requireNonNull(barrier, "barrier"));
    }

    /**
     * A new barrier, at which a party takes its arrival back if it is cancelled.
     *
     * @throws IllegalArgumentException if {@code parties} is below 1
     */
    public static AsyncBarrier create(int parties) {
        return create(parties, BarrierCancellation.RETRACT);
    }

    /** As {@link #create(int)}, with a name for messages and {@code toString}; null for none. */
    public static AsyncBarrier create(int parties, @Nullable String name) {
        return create(parties, BarrierCancellation.RETRACT, name);
    }

    /** As {@link #create(int)}, with another effect of a cancelled party. */
    public static AsyncBarrier create(int parties, BarrierCancellation onCancel) {
        return create(parties, onCancel, (String) null);
    }

    /** As {@link #create(int, BarrierCancellation)}, with a name for messages and {@code toString}; null for none. */
    public static AsyncBarrier create(int parties, BarrierCancellation onCancel, @Nullable String name) {
        return of(new Barrier(parties, Objects.requireNonNull(onCancel, "onCancel"), name, null));
    }

    /**
     * As {@link #create(int)}, with an action: the last party runs it each time all have arrived, and no party is
     * released before its stage has completed. If the stage fails, or the action throws, the barrier breaks.
     */
    public static AsyncBarrier create(int parties, Supplier<? extends CompletionStage<?>> action) {
        return create(parties, BarrierCancellation.RETRACT, action, null);
    }

    /** As {@link #create(int, Supplier)}, with a name for messages and {@code toString}; null for none. */
    public static AsyncBarrier create(
            int parties, Supplier<? extends CompletionStage<?>> action, @Nullable String name) {
        return create(parties, BarrierCancellation.RETRACT, action, name);
    }

    /** As {@link #create(int, Supplier)}, with another effect of a cancelled party. */
    public static AsyncBarrier create(
            int parties, BarrierCancellation onCancel, Supplier<? extends CompletionStage<?>> action) {
        return create(parties, onCancel, action, null);
    }

    /** As {@link #create(int, BarrierCancellation, Supplier)}, with a name for messages and {@code toString}; null for none. */
    public static AsyncBarrier create(
            int parties,
            BarrierCancellation onCancel,
            Supplier<? extends CompletionStage<?>> action,
            @Nullable String name) {
        Objects.requireNonNull(onCancel, "onCancel");
        Objects.requireNonNull(action, "action");
        return of(SyncBridge.barrierOf(parties, onCancel, name, action));
    }

    /** The Kotlin barrier behind this. */
    public Barrier kotlin() {
        return barrier;
    }

    /** A view of the same barrier for threads that may block. */
    public BlockingBarrier blocking() {
        return new BlockingBarrier(barrier);
    }

    /**
     * Arrives. The future completes when the other parties have arrived too and the action has ended. Its value is the
     * number of parties that were still missing: {@code parties - 1} for the first, 0 for the last. It fails with
     * {@link BarrierBrokenException} if the barrier is broken, before or meanwhile, or is {@link #reset} meanwhile. If
     * the action fails, the last party's future fails with that failure.
     */
    public CompletableFuture<Integer> arrive() {
        return BarrierFuture.arrive(barrier, null, null);
    }

    /**
     * As {@link #arrive()}, but a future that had to wait is completed on {@code executor}; by the releasing thread if
     * the executor rejects that.
     */
    public CompletableFuture<Integer> arrive(Executor executor) {
        return BarrierFuture.arrive(barrier, Objects.requireNonNull(executor, "executor"), null);
    }

    /**
     * As {@link #arrive()}, but fails with {@link BarrierTimeoutException} if it is not released in time; {@link
     * BarrierCancellation} says what that does to the barrier. With zero or less, all other parties must have arrived
     * already. The last party is not timed out while its action runs. The timeout is rounded up to whole milliseconds.
     */
    public CompletableFuture<Integer> arrive(Duration timeout) {
        return BarrierFuture.arrive(barrier, null, Objects.requireNonNull(timeout, "timeout"));
    }

    /** Breaks it: waiting parties fail with {@link BarrierBrokenException}. A broken barrier stays as it is. */
    public void abort() {
        barrier.abort(null);
    }

    /** As {@link #abort()}, with a cause that the exceptions carry. */
    public void abort(Throwable cause) {
        barrier.abort(Objects.requireNonNull(cause, "cause"));
    }

    /** Starts a new generation, broken or not. Waiting parties fail with {@link BarrierBrokenException}. */
    public void reset() {
        barrier.reset();
    }

    /** Whether it refuses arrivals until {@link #reset}. */
    public boolean isBroken() {
        return barrier.isBroken();
    }

    /** The number of parties that must arrive. */
    public int parties() {
        return barrier.getParties();
    }

    /** The effect of a party that is cancelled or times out. */
    public BarrierCancellation onCancel() {
        return barrier.getOnCancel();
    }

    /** The number of parties that wait for others or for the action to end, of Java and Kotlin callers. */
    public int waiting() {
        return barrier.getWaiting();
    }

    @Override
    public String toString() {
        return "Async" + barrier;
    }
}
