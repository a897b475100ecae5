package baton.waiting;

import baton.InternalBatonApi;
import java.util.concurrent.locks.LockSupport;

/**
 * The wait of one thread, until its entry in the queue of a primitive is decided.
 *
 * <p>The thread parks, without spinning and without a monitor, so a virtual thread leaves its carrier. The thread that
 * grants or fails the entry unparks it. An interrupt or the end of the time withdraws the entry. If that is too late,
 * the entry is or will be decided, and the wait ends as it was decided.
 */
@InternalBatonApi
public final class Parking {
    /** No limit of time. */
    public static final long FOREVER = Long.MAX_VALUE;

    private final Thread thread = Thread.currentThread();

    /** As {@link #nameOf}, of the thread that waits. */
    String threadName() {
        return nameOf(thread);
    }

    /** The name of {@code thread}; of one without a name, as most virtual threads, its number: VirtualThread[#36]. */
    public static String nameOf(Thread thread) {
        String name = thread.getName();
        return name.isEmpty() ? thread.toString().split("/", 2)[0] : name;
    }

    /** The rest of {@code nanos}, which began at {@code start}. A negative time, however great, is over. */
    public static long left(long nanos, long start) {
        return nanos == FOREVER ? FOREVER : Math.max(nanos, 0) - (System.nanoTime() - start);
    }

    /** Parks the current thread. {@link #FOREVER} needs no timer. */
    public static void park(Object blocker, long nanos) {
        if (nanos == FOREVER) LockSupport.park(blocker);
        else LockSupport.parkNanos(blocker, nanos);
    }

    /** Wakes the thread: its entry is decided. */
    public void unpark() {
        LockSupport.unpark(thread);
    }

    /**
     * Waits until the entry, which is in the queue, is decided.
     *
     * @param blocker what a thread dump shows the thread to wait for
     * @param nanos how long at most, or {@link #FOREVER}
     * @return GRANTED or FAILED, also after an interrupt that came too late, whose status is then set again; TIMED_OUT
     * @throws InterruptedException if the thread was interrupted and the entry is withdrawn; never if not interruptible
     */
    public int await(Waiter entry, Object blocker, long nanos, boolean interruptible) throws InterruptedException {
        long start = System.nanoTime();
        boolean withdrawable = true;
        boolean interrupted = false;
        try {
            while (entry.isWaiting()) {
                long left = withdrawable ? left(nanos, start) : FOREVER;
                if (left <= 0) {
                    if (entry.withdraw(Waiter.TIMED_OUT) == Waiter.WAITING) return Waiter.TIMED_OUT;
                    withdrawable = false;
                    continue;
                }
                park(entry, blocker, left);
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
            return entry.getCurrentState();
        } finally {
            if (interrupted) thread.interrupt();
        }
    }

    /**
     * Parking can fail for lack of stack or memory. The entry then leaves the queue and the error is thrown; an entry
     * that was decided already ends the wait instead.
     */
    private static void park(Waiter entry, Object blocker, long nanos) {
        try {
            park(blocker, nanos);
        } catch (Throwable e) {
            if (entry.withdraw(Waiter.CANCELLED) == Waiter.WAITING) throw e;
        }
    }
}
