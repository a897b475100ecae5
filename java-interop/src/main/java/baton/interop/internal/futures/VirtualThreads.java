package baton.interop.internal.futures;

import java.lang.reflect.InvocationTargetException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** An executor with a virtual thread for each task, on JDKs that have them. */
public final class VirtualThreads {
    private VirtualThreads() {}

    public static ExecutorService open() {
        try {
            return (ExecutorService)
                    Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        } catch (NoSuchMethodException | IllegalAccessException | InvocationTargetException e) {
            throw new UnsupportedOperationException("no virtual threads in JDK " + Runtime.version(), e);
        }
    }

    /** Shuts the executor down and waits until all its threads have ended; an interrupt does not end the wait. */
    public static void close(ExecutorService threads) {
        threads.shutdown();
        boolean interrupted = false;
        for (boolean ended = false; !ended; ) {
            try {
                ended = threads.awaitTermination(Long.MAX_VALUE, TimeUnit.NANOSECONDS);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) Thread.currentThread().interrupt();
    }
}
