package baton.interop;

import baton.bridge.SyncBridge;
import baton.interop.internal.blocking.ThreadCountdown;
import baton.sync.Latch;
import java.time.Duration;

/**
 * A {@link Latch} for threads that may block: virtual threads above all. Made by {@link AsyncLatch#blocking()}.
 *
 * <pre>{@code
 * if (!ready.blocking().await(Duration.ofSeconds(5))) throw new IllegalStateException("not ready: " + ready);
 * }</pre>
 *
 * <p>It has no state of its own. A waiting thread parks, so a virtual thread leaves its carrier. An interrupt ends the
 * wait, unless the count was zero just before; then the call returns and the thread stays interrupted.
 */
public final class BlockingLatch {
    private final Latch latch;
    private final ThreadCountdown countdown;

    BlockingLatch(Latch latch) {
        this.latch = latch;
        this.countdown = new ThreadCountdown(SyncBridge.of(latch), latch::getCount, latch);
    }

    /** Waits until the count is zero. */
    public void await() throws InterruptedException {
        countdown.await();
    }

    /** As {@link #await()}, but waits {@code timeout} at most. Returns whether the count was zero. */
    public boolean await(Duration timeout) throws InterruptedException {
        return countdown.await(timeout);
    }

    @Override
    public String toString() {
        return "Blocking" + latch;
    }
}
