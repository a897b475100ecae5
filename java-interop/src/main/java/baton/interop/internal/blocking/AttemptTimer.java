package baton.interop.internal.blocking;

import baton.bridge.RetryCall;
import baton.interop.internal.futures.Timeout;
import baton.resilience.AttemptTimeoutException;
import baton.waiting.threads.Timeouts;
import java.time.Duration;
import java.util.concurrent.Callable;
import kotlinx.coroutines.DisposableHandle;
import org.jspecify.annotations.Nullable;

/**
 * Interrupts the attempt of a thread when its time is over. Under the lock either the timer interrupts, or the attempt
 * ends first and is not interrupted any more; so no interrupt is left for the code that follows the attempt.
 */
final class AttemptTimer implements Runnable {
    private final Thread thread = Thread.currentThread();
    private boolean hasEnded;
    private boolean isLate;

    /** Whether another thread had interrupted the attempt before the timer did: that interrupt is not the timer's. */
    private boolean wasInterrupted;

    private AttemptTimer() {}

    /** Runs the action on this thread. Once the time is over, an action that throws has timed out. */
    static <T extends @Nullable Object> T call(Callable<T> action, Duration limit, RetryCall call) throws Exception {
        AttemptTimer attempt = new AttemptTimer();
        DisposableHandle timer = Timeouts.schedule(Timeout.millis(limit), attempt);
        try {
            return action.call();
        } catch (Throwable e) {
            if (!attempt.end() || e instanceof Error) throw e;
            AttemptTimeoutException late = new AttemptTimeoutException(call.lateMessage());
            if (!(e instanceof InterruptedException)) late.addSuppressed(e);
            throw late;
        } finally {
            timer.dispose();
            boolean unused = attempt.end();
        }
    }

    @Override
    public synchronized void run() {
        if (hasEnded) return;
        isLate = true;
        wasInterrupted = thread.isInterrupted();
        thread.interrupt();
    }

    /** Whether the time was over before the attempt had ended; the first call clears its interrupt then. */
    private synchronized boolean end() {
        if (isLate && !hasEnded && !wasInterrupted) {
            boolean unused = Thread.interrupted();
        }
        hasEnded = true;
        return isLate;
    }
}
