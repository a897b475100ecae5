package baton.interop.internal.cancel;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.WeakReference;

/**
 * How many stages were derived from a future and still want it. They hold this instead of the future: whoever can still
 * complete a future holds it anyway, and a stage must not keep all those alive that ended before it.
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

    DependentCount(CancellationNode<?> future) {
        super(future);
    }

    /** Counts one more. */
    DependentCount enter() {
        COUNT.getAndAdd(this, 1);
        return this;
    }

    /** True for the last one. */
    boolean leave() {
        return (int) COUNT.getAndAdd(this, -1) == 1;
    }
}
