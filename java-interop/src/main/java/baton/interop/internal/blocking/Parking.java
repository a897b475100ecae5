package baton.interop.internal.blocking;

import baton.waiting.Waiter;
import java.util.concurrent.locks.LockSupport;

/**
 * The wait of one thread, for the decision on its entry in the queue of a primitive.
 *
 * <p>The thread parks, without spinning and without a monitor, so a virtual thread leaves its carrier. An interrupt or
 * the end of the time withdraws the entry. If that is too late, because the entry is granted or has failed, the thread
 * waits for the thread that has decided it, which is about to unpark this one.
 */
final class Parking {
    /** No limit of time. */
    static final long FOREVER = -1;

    private final Thread thread = Thread.currentThread();

    /** How the entry was decided; WAITING until then. */
    private volatile int decision = Waiter.WAITING;

    /** Called once, by the thread that has granted or failed the entry. */
    void decided(int state) {
        decision = state;
        LockSupport.unpark(thread);
    }

    /**
     * Waits until the entry, which is in the queue, is decided.
     *
     * @param blocker what a thread dump shows the thread to wait for
     * @param nanos {@link #FOREVER}, or how long at most
     * @return GRANTED or FAILED, also after an interrupt that came too late, whose status is then set again; TIMED_OUT
     * @throws InterruptedException if the thread was interrupted and the entry is withdrawn; never if not interruptible
     */
    int await(Waiter entry, Object blocker, long nanos, boolean interruptible) throws InterruptedException {
        long start = nanos == FOREVER ? 0 : System.nanoTime();
        boolean withdrawable = true;
        boolean interrupted = false;
        try {
            while (decision == Waiter.WAITING) {
                long left = nanos == FOREVER || !withdrawable ? Long.MAX_VALUE : nanos - (System.nanoTime() - start);
                if (left <= 0) {
                    if (entry.withdraw(Waiter.TIMED_OUT) == Waiter.WAITING) return Waiter.TIMED_OUT;
                    withdrawable = false;
                } else if (left == Long.MAX_VALUE) {
                    LockSupport.park(blocker);
                } else {
                    LockSupport.parkNanos(blocker, left);
                }
                if (Thread.interrupted()) {
                    interrupted = true;
                    if (interruptible && withdrawable) {
                        withdrawable = false;
                        if (entry.withdraw(Waiter.CANCELLED) == Waiter.WAITING) {
                            interrupted = false;
                            throw new InterruptedException();
                        }
                    }
                }
            }
            return decision;
        } finally {
            if (interrupted) thread.interrupt();
        }
    }
}
