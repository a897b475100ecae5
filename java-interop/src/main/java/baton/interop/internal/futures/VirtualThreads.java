package baton.interop.internal.futures;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/** Virtual threads, on JDKs that have them. By reflection, because this library also runs on JDK 17. */
public final class VirtualThreads {
    private VirtualThreads() {}

    /**
     * An executor with a virtual thread for each task.
     *
     * @throws UnsupportedOperationException before JDK 21
     */
    public static ExecutorService open() {
        try {
            return (ExecutorService)
                    Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        } catch (ReflectiveOperationException e) {
            throw unsupported(e);
        }
    }

    /**
     * As {@link #open()}; the threads are named {@code name-1}, {@code name-2} and so on.
     *
     * @throws UnsupportedOperationException before JDK 21
     */
    public static ExecutorService open(String name) {
        ThreadFactory factory = factory(name + "-", true);
        try {
            return (ExecutorService) Executors.class
                    .getMethod("newThreadPerTaskExecutor", ThreadFactory.class)
                    .invoke(null, factory);
        } catch (ReflectiveOperationException e) {
            throw unsupported(e);
        }
    }

    /**
     * Makes virtual threads whose names are the prefix and a number, from 1 on.
     *
     * @param inherits whether a thread has the inheritable thread-locals of the one that starts it
     * @throws UnsupportedOperationException before JDK 21
     */
    static ThreadFactory factory(String prefix, boolean inherits) {
        try {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            Class<?> type = Class.forName("java.lang.Thread$Builder");
            type.getMethod("name", String.class, long.class).invoke(builder, prefix, 1L);
            type.getMethod("inheritInheritableThreadLocals", boolean.class).invoke(builder, inherits);
            return (ThreadFactory) type.getMethod("factory").invoke(builder);
        } catch (ReflectiveOperationException e) {
            throw unsupported(e);
        }
    }

    private static UnsupportedOperationException unsupported(ReflectiveOperationException e) {
        return new UnsupportedOperationException("no virtual threads in JDK " + Runtime.version() + ", since 21", e);
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
