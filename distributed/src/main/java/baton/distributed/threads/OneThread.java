package baton.distributed.threads;

import baton.waiting.threads.HandOverExecutor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** A daemon thread that runs one command after the other, and ends while there is none. */
public final class OneThread {
    private static final long IDLE_SECONDS = 10;

    private OneThread() {}

    /** A new one of that name, started by the first command. */
    public static ExecutorService executor(String name) {
        var thread = new ThreadPoolExecutor(
                1,
                1,
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(),
                work -> HandOverExecutor.daemon(name, work));
        thread.allowCoreThreadTimeOut(true);
        return thread;
    }
}
