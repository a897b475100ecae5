package baton.interop;

import baton.bridge.SyncBridge;
import baton.interop.internal.blocking.ActionLead;
import baton.interop.internal.futures.Late;
import baton.interop.internal.futures.Timeout;
import baton.sync.Barrier;
import baton.sync.BarrierBrokenException;
import baton.sync.BarrierCancellation;
import baton.sync.BarrierTimeoutException;
import baton.waiting.ThreadWaiter;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletionException;

/**
 * A {@link Barrier} for threads that may block: virtual threads above all. Made by {@link AsyncBarrier#blocking()}.
 *
 * <pre>{@code
 * for (int round = 0; round < rounds; round++) {
 *     compute(round);
 *     barrier.blocking().arrive();
 * }
 * }</pre>
 *
 * <p>It has no state of its own: threads, Java futures and Kotlin coroutines are parties of the same barrier. A waiting
 * thread parks, so a virtual thread leaves its carrier. An interrupt cancels the arrival, and {@link
 * BarrierCancellation} says what that does to the barrier; if the barrier has released the thread just before, the call
 * returns and the thread stays interrupted.
 */
public final class BlockingBarrier {
    private final Barrier barrier;

    BlockingBarrier(Barrier barrier) {
        this.barrier = barrier;
    }

    /**
     * Arrives, and waits until the other parties have arrived too and the action has ended. The last party waits for
     * the action, which an interrupt of that thread cancels; the barrier breaks then.
     *
     * @return the number of parties that were still missing: {@code parties - 1} for the first, 0 for the last
     * @throws InterruptedException if the thread is interrupted, also before the call; a barrier with {@link
     *     BarrierCancellation#BREAK} then breaks
     * @throws BarrierBrokenException if the barrier is broken, before or meanwhile, or is reset meanwhile; the last
     *     party gets the failure of the action instead, in a {@link CompletionException} if it is a checked exception
     */
    public int arrive() throws InterruptedException {
        throwIfInterrupted();
        Object granted = SyncBridge.arriveNow(barrier, false);
        if (granted == null) {
            ThreadWaiter waiter = waiter();
            waiter.await();
            granted = Objects.requireNonNull(waiter.grant());
        }
        return index(granted);
    }

    /**
     * As {@link #arrive()}, but waits {@code timeout} at most. With zero or less, all other parties must have arrived
     * already. The last party is not timed out while the action runs.
     *
     * @throws BarrierTimeoutException if it was not released in time
     */
    public int arrive(Duration timeout) throws InterruptedException, BarrierTimeoutException {
        long nanos = Timeout.nanos(timeout);
        throwIfInterrupted();
        Object granted = SyncBridge.arriveNow(barrier, nanos == 0);
        if (granted == null) {
            ThreadWaiter waiter = waiter();
            if (nanos == 0 || !waiter.await(nanos)) {
                throw Late.arrive(timeout, barrier);
            }
            granted = Objects.requireNonNull(waiter.grant());
        }
        return index(granted);
    }

    private ThreadWaiter waiter() {
        return new ThreadWaiter(SyncBridge.of(barrier), 1, null, barrier);
    }

    /** The arrival index; for the last party after the action. */
    private int index(Object granted) throws InterruptedException {
        return granted instanceof Integer index ? index : new ActionLead(barrier).await(granted);
    }

    private void throwIfInterrupted() throws InterruptedException {
        if (!Thread.interrupted()) return;
        SyncBridge.abandon(barrier);
        throw new InterruptedException();
    }

    @Override
    public String toString() {
        return "Blocking" + barrier;
    }
}
