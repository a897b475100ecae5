package baton.interop.internal.cancel;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.WeakReference;

/**
 * The number of stages that were derived from a future and still want it. They refer to this instead of the future:
 * code that can still complete the future refers to it anyway, and a stage must not keep all ended futures before it
 * alive.
 */
final class DependentCount extends WeakReference<CancellationNode<?>> {
    private static final VarHandle COUNT;

    static {
        try {
            COUNT = MethodHandles.lookup().findVarHandle(DependentCount.class, "count", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    @SuppressWarnings("UnusedVariable") // by COUNT
    private volatile int count;

    /** Counts the one that asks for it. */
    DependentCount(CancellationNode<?> future) {
        super(future);
        COUNT.set(this, 1);
    }

    /** Counts one more. */
    void enter() {
        COUNT.getAndAdd(this, 1);
    }

    /** Counts one less; true for the last one. */
    boolean leave() {
        return (int) COUNT.getAndAdd(this, -1) == 1;
    }
}
