package baton.waiting;

import baton.InternalBatonApi;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A core with one counter that many threads change, alone on its cache line. On that line, every change would take what is only
 * read away from its readers: the header in front, which calls look at, and the fields of the subclass behind.
 *
 * <p>A class of its own because the JVM lays out the fields of a superclass before those of its subclass.
 */
abstract class CounterFrontPadding extends WaitCore {
    @SuppressWarnings("unused")
    private long p01, p02, p03, p04, p05, p06, p07;
}

abstract class CounterField extends CounterFrontPadding {
    private static final VarHandle COUNTER;

    static {
        try {
            COUNTER = MethodHandles.lookup().findVarHandle(CounterField.class, "counter", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private volatile long counter;

    public final long counter() {
        return counter;
    }

    /** Only before the object is published. */
    protected final void initCounter(long value) {
        COUNTER.set(this, value);
    }

    /** For a thread that alone may change it now. Publishes what the thread did before, and waits for no other processor. */
    protected final void setCounter(long value) {
        COUNTER.setRelease(this, value);
    }

    /** As {@link #setCounter}, but all processors see it when this returns. */
    protected final void setCounterAtOnce(long value) {
        counter = value;
    }

    public final boolean compareAndSet(long expected, long value) {
        return COUNTER.compareAndSet(this, expected, value);
    }
}

@InternalBatonApi
public abstract class PaddedCounter extends CounterField {
    @SuppressWarnings("unused")
    private long q01, q02, q03, q04, q05, q06, q07;

    protected PaddedCounter() {}
}
