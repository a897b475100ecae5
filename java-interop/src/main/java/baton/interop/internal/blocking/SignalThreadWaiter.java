package baton.interop.internal.blocking;

import baton.waiting.Parking;
import baton.waiting.SignalWaiter;
import baton.waiting.WaitCore;

/**
 * A thread that waits for the signal of a condition and then for the mutex. Withdrawing it takes it out of either
 * queue; the signal that it may have had goes to the next waiter, and the thread must lock the mutex anew.
 */
final class SignalThreadWaiter extends SignalWaiter {
    private final Parking parking = new Parking();
    private final Object blocker;

    SignalThreadWaiter(WaitCore core, Thread owner, Object blocker) {
        super(core, owner);
        this.blocker = blocker;
    }

    /** Returns GRANTED, FAILED or TIMED_OUT. */
    int await(long nanos, boolean interruptible) throws InterruptedException {
        int state = core.enqueue(this);
        return state == WAITING ? parking.await(this, blocker, nanos, interruptible) : state;
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
