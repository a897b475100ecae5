package baton.interop.internal.blocking;

import baton.interop.internal.futures.Timeout;
import baton.waiting.Parking;
import baton.waiting.ThreadWaiter;
import baton.waiting.WaitCore;
import java.time.Duration;
import java.util.function.IntSupplier;

/** Threads that wait for a count of zero, of a latch or of a wait group. */
public final class ThreadCountdown {
    private final WaitCore core;
    private final IntSupplier count;
    private final Object blocker;

    /** @param blocker what a thread dump shows the threads to wait for */
    public ThreadCountdown(WaitCore core, IntSupplier count, Object blocker) {
        this.core = core;
        this.count = count;
        this.blocker = blocker;
    }

    public void await() throws InterruptedException {
        var unused = await(Parking.FOREVER);
    }

    /** Returns whether the count was zero in time. */
    public boolean await(Duration timeout) throws InterruptedException {
        return await(Timeout.nanos(timeout));
    }

    /** As {@link #await()}, but an interrupt does not end the wait. */
    public void awaitUninterruptibly() {
        if (count.getAsInt() != 0) new ThreadWaiter(core, 1, null, blocker).awaitUninterruptibly();
    }

    private boolean await(long nanos) throws InterruptedException {
        ThreadWaiter.throwIfInterrupted();
        return count.getAsInt() == 0 || (nanos > 0 && new ThreadWaiter(core, 1, null, blocker).await(nanos));
    }
}
