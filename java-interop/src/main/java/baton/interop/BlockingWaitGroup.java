package baton.interop;

import baton.bridge.SyncBridge;
import baton.interop.internal.blocking.ThreadWaiter;
import baton.interop.internal.futures.Timeout;
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

    BlockingWaitGroup(WaitGroup group) {
        this.group = group;
    }

    /** Waits until the count is zero. */
    public void await() throws InterruptedException {
        if (Thread.interrupted()) throw new InterruptedException();
        if (group.getCount() > 0) waiter().await();
    }

    /** As {@link #await()}, but waits {@code timeout} at most. Returns whether the count was zero. */
    public boolean await(Duration timeout) throws InterruptedException {
        long nanos = Timeout.nanos(timeout);
        if (Thread.interrupted()) throw new InterruptedException();
        return group.getCount() == 0 || (nanos > 0 && waiter().await(nanos));
    }

    private ThreadWaiter waiter() {
        return new ThreadWaiter(SyncBridge.of(group), 1, null, group);
    }

    @Override
    public String toString() {
        return "Blocking" + group;
    }
}
