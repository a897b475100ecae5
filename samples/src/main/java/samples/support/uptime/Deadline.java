package samples.support.uptime;

import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Interrupts the thread that has created it unless it is closed in time. An interrupt closes the channel that the thread
 * reads or writes, so that no client keeps it waiting.
 */
final class Deadline implements AutoCloseable {
    private final Thread thread = Thread.currentThread();
    private final Future<?> end;
    private boolean isClosed;

    Deadline(ScheduledExecutorService timer, Duration limit) {
        end = timer.schedule(this::interrupt, limit.toMillis(), TimeUnit.MILLISECONDS);
    }

    private synchronized void interrupt() {
        if (!isClosed) thread.interrupt();
    }

    /** Afterwards the thread is not interrupted. May be called twice. */
    @Override
    public synchronized void close() {
        if (isClosed) return;
        isClosed = true;
        end.cancel(false);
        boolean unused = Thread.interrupted();
    }
}
