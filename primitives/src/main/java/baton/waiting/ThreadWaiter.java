package baton.waiting;

import baton.InternalBatonApi;
import baton.waiting.flight.FlightEvents;
import baton.waiting.flight.WaitEvent;
import baton.waiting.threads.Trampoline;

/** A thread in the queue of a primitive. It waits once. */
@InternalBatonApi
public final class ThreadWaiter extends Waiter {
    private final Parking parking = new Parking();
    private final Object blocker;

    /** @param blocker what a thread dump shows the thread to wait for */
    public ThreadWaiter(WaitCore core, int number, Object request, Object blocker) {
        super(core, number, request);
        this.blocker = blocker;
    }

    /** At the begin of an interruptible call: an interrupted thread does nothing. */
    public static void throwIfInterrupted() throws InterruptedException {
        if (Thread.interrupted()) throw new InterruptedException();
    }

    /**
     * Waits for the grant. If the request fails, throws its failure.
     *
     * @throws InterruptedException if the thread was interrupted before the grant; nothing is held then
     */
    public void await() throws InterruptedException {
        var unused = await(Parking.FOREVER, true);
    }

    /**
     * As {@link #await()}, but waits {@code nanos} at most.
     *
     * @return whether it was granted; nothing is held if not
     */
    public boolean await(long nanos) throws InterruptedException {
        return await(nanos, true);
    }

    /** As {@link #await()}, but an interrupt does not end the wait. */
    public void awaitUninterruptibly() {
        try {
            var unused = await(Parking.FOREVER, false);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private boolean await(long nanos, boolean interruptible) throws InterruptedException {
        core.requireRealTime();
        int state = core.enqueue(this);
        if (state == WAITING) {
            WaitEvent event = FlightEvents.newWait();
            state = event == null
                    ? parking.await(this, blocker, nanos, interruptible)
                    : awaitRecorded(event, nanos, interruptible);
        }
        if (state == FAILED) throw ThreadWaiter.<RuntimeException>failed(core.failure(this));
        return state == GRANTED;
    }

    /** Throws the failure, which of a run that callers share may be checked. The compiler takes it for an X. */
    @SuppressWarnings("unchecked") // the cast to X is erased
    private static <X extends Throwable> RuntimeException failed(Throwable failure) throws X {
        throw (X) failure;
    }

    private int awaitRecorded(WaitEvent event, long nanos, boolean interruptible) throws InterruptedException {
        try {
            int state = parking.await(this, blocker, nanos, interruptible);
            record(event, state == TIMED_OUT, state == FAILED ? core.failure(this) : null);
            return state;
        } catch (InterruptedException e) {
            record(event, false, e);
            throw e;
        }
    }

    /** For want of memory or stack there is no event; the caller must get what it was granted all the same. */
    private void record(WaitEvent event, boolean isLate, Throwable failure) {
        try {
            if (!event.endsRecorded()) return;
            event.record(core.getOwnerLabel(), core.verbOf(this), nameOrNull(), isLate, failure);
        } catch (Throwable e) {
            Trampoline.report(e);
        }
    }

    /** The grant, of a primitive whose waiters get different ones. */
    public Object grant() {
        return core.grantOf(this, null);
    }

    @Override
    public String nameOrNull() {
        return parking.threadName();
    }

    @Override
    protected boolean getStaysWithItsBatch() {
        return true;
    }

    @Override
    protected boolean resume() {
        parking.unpark();
        return true;
    }

    @Override
    protected void resumeFailed() {
        parking.unpark();
    }
}
