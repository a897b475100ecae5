package baton.interop.internal.futures;

import baton.waiting.threads.HandOverExecutor;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The threads of a {@link baton.interop.PriorityExecutor} that has its own. They are daemons, are started on demand,
 * and end when they are idle. It accepts commands for ever: several executors use it, and each is shut down by itself.
 */
public final class OwnThreads implements Executor {
    private static final long KEEP_ALIVE_MILLIS = 60_000;

    /** Runs a command on one of the threads. */
    private final Executor runner;

    /** The runner, if it keeps idle threads. */
    private final @Nullable ThreadPoolExecutor pool;

    private final String description;

    private OwnThreads(Executor runner, @Nullable ThreadPoolExecutor pool, String description) {
        this.runner = runner;
        this.pool = pool;
        this.description = description;
    }

    /** At most {@code size} platform threads, whose names are the prefix and a number. */
    public static OwnThreads platform(int size, String prefix) {
        AtomicInteger count = new AtomicInteger();
        ThreadFactory factory = work -> HandOverExecutor.daemon(prefix + count.incrementAndGet(), work);
        ThreadPoolExecutor pool = new ThreadPoolExecutor(
                size, size, KEEP_ALIVE_MILLIS, TimeUnit.MILLISECONDS, new LinkedBlockingQueue<>(), factory);
        pool.allowCoreThreadTimeOut(true);
        return new OwnThreads(pool, pool, "threads " + prefix + "*");
    }

    /**
     * A virtual thread for each command, whose names are the prefix and a number.
     *
     * @throws UnsupportedOperationException before JDK 21
     */
    public static OwnThreads virtual(String prefix) {
        ThreadFactory factory = VirtualThreads.factory(prefix, false);
        Executor runner = command -> factory.newThread(command).start();
        return new OwnThreads(runner, null, "virtual threads " + prefix + "*");
    }

    @Override
    public void execute(Runnable command) {
        runner.execute(command);
    }

    /** From now on threads end as soon as they are idle. */
    public void endIdleThreads() {
        if (pool != null) pool.setKeepAliveTime(1, TimeUnit.MILLISECONDS);
    }

    @Override
    public String toString() {
        return description;
    }
}
