package baton.interop.internal.futures;

import baton.waiting.coroutine.Timeouts;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import kotlinx.coroutines.DisposableHandle;
import org.jspecify.annotations.Nullable;

/** Timeouts as Java gives them. */
public final class Timeout {
    private Timeout() {}

    /**
     * In whole milliseconds, rounded up, {@link Long#MAX_VALUE} at most. Zero if it is negative: callers that compute
     * {@code deadline - now} get a negative timeout when they are late.
     */
    public static long millis(Duration timeout) {
        Objects.requireNonNull(timeout, "timeout");
        if (timeout.isNegative()) return 0;
        try {
            return timeout.plusNanos(999_999).toMillis();
        } catch (ArithmeticException e) {
            return Long.MAX_VALUE;
        }
    }

    /** Never too long for a Duration: at most 292 years. */
    public static Duration of(long timeout, TimeUnit unit) {
        return Duration.ofNanos(unit.toNanos(timeout));
    }

    /**
     * Runs {@code end} once {@code timeout} has passed: on this thread if that is now, else on a thread that is no
     * timer's.
     *
     * @return the timer, or null if nothing waits for it
     */
    public static @Nullable DisposableHandle start(Future<?> future, Duration timeout, Runnable end) {
        long millis = millis(timeout);
        if (future.isDone()) return null;
        if (millis > 0) return Timeouts.schedule(millis, end);
        end.run();
        return null;
    }
}
