package baton.interop.internal.parallel;

import org.jspecify.annotations.Nullable;

/**
 * Interrupts the thread of a section, but never later work of the same thread: under the lock either the thread is
 * interrupted, or the section ends first. A section that was interrupted clears the flag of its thread when it ends.
 */
final class Interruption {
    /** Null before the section has begun, and after it. */
    private @Nullable Thread thread;

    private boolean isInterrupted;

    synchronized void begin() {
        thread = Thread.currentThread();
        if (isInterrupted) thread.interrupt();
    }

    synchronized void end() {
        thread = null;
        if (isInterrupted) {
            boolean unused = Thread.interrupted();
        }
    }

    /** Interrupts the section. One that has not begun is interrupted when it begins. */
    synchronized void interrupt() {
        if (isInterrupted) return;
        isInterrupted = true;
        if (thread != null) thread.interrupt();
    }
}
