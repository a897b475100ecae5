package baton.interop.internal.cancel;

import baton.interop.internal.futures.FieldHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.WeakReference;

/**
 * The number of stages that were derived from a future and still want it. They refer to this instead of the future:
 * code that can still complete the future refers to it anyway, and a stage must not keep all ended futures before it
 * alive.
 *
 * <p>The word: the number of dependents in the upper half; {@link #ENDED}; the number of threads that are leaving. A thread
 * that leaves is leaving until the stage for which it left is completed. The last dependent to leave sets ENDED for
 * good; from then on no thread begins to leave. So exactly one thread finds ENDED set and itself the last that was
 * leaving.
 */
final class DependentCount extends WeakReference<CancellationNode<?>> {
    private static final VarHandle WORD = FieldHandle.of(MethodHandles.lookup(), "word", long.class);

    private static final long DEPENDENT = 1L << 32;
    private static final long ENDED = 1L << 31;
    private static final long LEAVING = 1;

    /** How a thread has left. */
    enum Departure {
        /** The thread ends the future. */
        LAST,
        /** Other dependents want the future. */
        EARLIER,
        /** Another thread ended the future before, so nothing has changed. */
        AFTER_END
    }

    private volatile long word;

    /** Counts the one that asks for it. */
    DependentCount(CancellationNode<?> future) {
        super(future);
        WORD.set(this, DEPENDENT);
    }

    /** Counts one more. */
    void enter() {
        WORD.getAndAdd(this, DEPENDENT);
    }

    /** Counts one less; the future goes on even without dependents. */
    void forget() {
        WORD.getAndAdd(this, -DEPENDENT);
    }

    /** Counts one less. Unless it is too late, {@link #left} must follow. */
    Departure leave() {
        for (; ; ) {
            long now = word;
            if ((now & ENDED) != 0) return Departure.AFTER_END;
            long next = now - DEPENDENT + LEAVING;
            boolean isLast = next < DEPENDENT;
            if (WORD.compareAndSet(this, now, isLast ? next | ENDED : next)) {
                return isLast ? Departure.LAST : Departure.EARLIER;
            }
        }
    }

    /** The stage of a thread that has left is completed. True for one thread: the future has ended, and no other is leaving. */
    boolean left() {
        return (int) ((long) WORD.getAndAdd(this, -LEAVING) - LEAVING) == (int) ENDED;
    }
}
