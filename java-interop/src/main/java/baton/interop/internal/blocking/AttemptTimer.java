package baton.interop.internal.blocking;

import baton.bridge.RetryCall;
import baton.interop.internal.futures.Interruption;
import baton.interop.internal.futures.Timeout;
import baton.resilience.AttemptTimeoutException;
import baton.waiting.threads.Timeouts;
import java.time.Duration;
import java.util.concurrent.Callable;
import kotlinx.coroutines.DisposableHandle;
import org.jspecify.annotations.Nullable;

/** Interrupts the attempt of a thread when its time is over. */
final class AttemptTimer {
    private AttemptTimer() {}

    /** Runs the action on this thread. Once the time is over, an action that throws has timed out. */
    static <T extends @Nullable Object> T call(Callable<T> action, Duration limit, RetryCall call) throws Exception {
        Interruption attempt = new Interruption();
        DisposableHandle timer = Timeouts.schedule(Timeout.millis(limit), attempt::interrupt);
        attempt.begin();
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
}
