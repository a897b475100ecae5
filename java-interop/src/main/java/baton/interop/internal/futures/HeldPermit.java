package baton.interop.internal.futures;

import baton.interop.Permit;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/** A permit that is given back once, however often and from how many threads it is closed. */
public abstract class HeldPermit implements Permit {
    private static final VarHandle CLOSED;

    static {
        try {
            CLOSED = MethodHandles.lookup().findVarHandle(HeldPermit.class, "closed", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private volatile boolean closed;
    private volatile @Nullable LeakWatch watch;

    /** Gives back what is held. */
    abstract void giveBack();

    /** What is held, in words: {@code "2 permits of Semaphore 'uplink' (…)"}. */
    abstract String describe();

    /** From now on somebody holds it. Two threads may both hand it out: who grants, and who finds it granted. */
    public final HeldPermit handedOut() {
        if (LeakWatch.isEnabled()) {
            watchOnce();
            LeakWatch.check();
        }
        return this;
    }

    private synchronized void watchOnce() {
        if (watch != null || closed) return;
        LeakWatch started = LeakWatch.watch(this);
        watch = started;
        // Whoever closes looks at `watch` after `closed`, so one of us two ends it.
        if (closed) started.close();
    }

    @Override
    public final void close() {
        if (spend()) giveBack();
    }

    /** Closes it without giving anything back: whoever calls it takes that over. False when it is closed already. */
    public final boolean spend() {
        if (!CLOSED.compareAndSet(this, false, true)) return false;
        LeakWatch watched = watch;
        if (watched != null) watched.close();
        return true;
    }

    @Override
    public final boolean isHeld() {
        return !closed;
    }

    @Override
    public final String toString() {
        return (closed ? "closed: " : "held: ") + describe();
    }
}
