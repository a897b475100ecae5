package baton.interop;

import baton.bridge.SyncBridge;
import baton.interop.internal.blocking.ThreadCountdown;
import baton.sync.WaitGroup;
import java.time.Duration;

/**
 * A {@link WaitGroup} for threads that may block: virtual threads above all. Made by {@link AsyncWaitGroup#blocking()}.
 *
 * <pre>{@code
 * uploads.blocking().await(); // until each add has its done
 * }</pre>
 *
 * <p>It has no state of its own. A waiting thread parks, so a virtual thread leaves its carrier. An interrupt ends the
 * wait, unless the count was zero just before; then the call returns and the thread stays interrupted.
 */
public final class BlockingWaitGroup {
    private final WaitGroup group;
    private final ThreadCountdown countdown;

    BlockingWaitGroup(WaitGroup group) {
        this.group = group;
        this.countdown = new ThreadCountdown(SyncBridge.of(group), group::getCount, group);
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
        return "Blocking" + group;
    }
}
