package baton.interop.internal.futures;

import org.jspecify.annotations.Nullable;

/**
 * Interrupts the thread of a section, but never later work of the same thread: under the lock either the thread is
 * interrupted, or the section ends first. A section that was interrupted clears the flag of its thread when it ends,
 * unless others had set the flag before.
 */
public final class Interruption {
    /** Null outside of the section. */
    private @Nullable Thread thread;

    private boolean isInterrupted;

    /** Whether another thread had interrupted this one before: then the flag stays set. */
    private boolean wasInterrupted;

    /** The current thread begins the section. */
    public synchronized void begin() {
        thread = Thread.currentThread();
        wasInterrupted = false;
        if (isInterrupted) interrupt(thread);
    }

    /** Ends the section, if it has not ended. Returns whether this has interrupted it. */
    public synchronized boolean end() {
        if (thread == null) return false;
        thread = null;
        if (isInterrupted && !wasInterrupted) {
            boolean unused = Thread.interrupted();
        }
        return isInterrupted;
    }

    /** Interrupts the section. One that has not begun is interrupted when it begins. */
    public synchronized void interrupt() {
        if (isInterrupted) return;
        isInterrupted = true;
        if (thread != null) interrupt(thread);
    }

    private void interrupt(Thread running) {
        wasInterrupted = running.isInterrupted();
        running.interrupt();
    }
}
