package baton.interop;

import baton.waiting.threads.Timeouts;
import java.lang.reflect.Field;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;

/** A system without a thread for one more timer. */
public final class NoTimerThread {
    private NoTimerThread() {}

    /** Runs the action; each timer that it starts fails meanwhile. */
    public static void during(Runnable action) {
        ScheduledThreadPoolExecutor timer = timer();
        ThreadFactory before = timer.getThreadFactory();
        int size = timer.getCorePoolSize();
        timer.setThreadFactory(task -> {
            throw new OutOfMemoryError("unable to create native thread");
        });
        needAThreadForEachTimer(timer);
        try {
            action.run();
        } finally {
            timer.setThreadFactory(before);
            timer.setCorePoolSize(size);
        }
    }

    private static void needAThreadForEachTimer(ScheduledThreadPoolExecutor timer) {
        try {
            timer.setCorePoolSize(1_000);
        } catch (OutOfMemoryError e) {
            // It has the new size, but no thread for the timers of other tests.
        }
    }

    private static ScheduledThreadPoolExecutor timer() {
        try {
            Field field = Timeouts.class.getDeclaredField("ourTimer");
            field.setAccessible(true);
            return (ScheduledThreadPoolExecutor) field.get(null);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }
}
