package baton.interop;

/** A system without a thread for one more timer. */
public final class NoTimerThread {
    private NoTimerThread() {}

    /** Runs the action; each timer that it starts fails meanwhile. */
    public static void during(Runnable action) {
        var restore = baton.waiting.NoTimerThread.INSTANCE.begin();
        try {
            action.run();
        } finally {
            restore.invoke();
        }
    }
}
