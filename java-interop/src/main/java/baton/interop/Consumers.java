package baton.interop;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.WeakReference;

/**
 * How many stages were derived from a future and still want it. They hold this instead of the future: whoever can still
 * complete a future holds it anyway, and a stage must not keep all those alive that ended before it.
 */
final class Consumers extends WeakReference<CancellationNode<?>> {
    private static final VarHandle COUNT;

    static {
        try {
            COUNT = MethodHandles.lookup().findVarHandle(Consumers.class, "count", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    @SuppressWarnings("UnusedVariable") // by COUNT
    private volatile int count;

    Consumers(CancellationNode<?> future) {
        super(future);
    }

    /** Counts one more. */
    Consumers enter() {
        COUNT.getAndAdd(this, 1);
        return this;
    }

    /** True for the last one. */
    boolean leave() {
        return (int) COUNT.getAndAdd(this, -1) == 1;
    }
}
