package baton.interop.internal.futures;

import baton.interop.Permit;
import baton.waiting.threads.Trampoline;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/** A permit that is released once, however often it is closed and by however many threads. */
public abstract class HeldPermit implements Permit {
    private static final VarHandle CLOSED = FieldHandle.of(MethodHandles.lookup(), "closed", boolean.class);

    private volatile boolean closed;
    private volatile @Nullable LeakWatch watch;

    /** Releases what this permit holds. */
    abstract void releaseHeld();

    /** A description of what this permit holds: {@code "2 permits of Semaphore 'uplink' (…)"}. */
    abstract String describe();

    /**
     * Marks the permit as handed out. Two threads may both do so: the granting thread, and one that finds it granted.
     */
    public final HeldPermit handedOut() {
        if (!LeakWatch.isEnabled()) return this;
        try {
            watchOnce();
            LeakWatch.check();
        } catch (Throwable e) { // the permit goes on unwatched
            Trampoline.report(e);
        }
        return this;
    }

    private synchronized void watchOnce() {
        if (watch != null || closed) return;
        LeakWatch started = LeakWatch.watch(this);
        watch = started;
        // The closing thread reads `watch` after it has written `closed`, so one of the two threads ends the watch.
        if (closed) started.close();
    }

    @Override
    public final void close() {
        if (markClosed()) releaseHeld();
    }

    /** Closes the permit but releases nothing, which is left to the caller. False if it was closed already. */
    public final boolean markClosed() {
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
