package baton.interop.internal.futures;

import baton.waiting.threads.Timeouts;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import kotlinx.coroutines.DisposableHandle;
import org.jspecify.annotations.Nullable;

/** Conversions of timeouts, and timers for futures. */
public final class Timeout {
    private Timeout() {}

    /**
     * The timeout in whole milliseconds, rounded up, at most {@link Long#MAX_VALUE}. Zero if it is negative: callers
     * that compute {@code deadline - now} get a negative timeout when they are late.
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

    /** Whether a request with this timeout must not wait; false without a timeout. */
    public static boolean isOver(@Nullable Duration timeout) {
        return timeout != null && millis(timeout) == 0;
    }

    /** As {@link #millis}, in nanoseconds: at most {@link Long#MAX_VALUE}, zero if it is negative. */
    public static long nanos(Duration timeout) {
        Objects.requireNonNull(timeout, "timeout");
        if (timeout.isNegative()) return 0;
        try {
            return timeout.toNanos();
        } catch (ArithmeticException e) {
            return Long.MAX_VALUE;
        }
    }

    /** The timeout as a Duration. It never overflows: it is 292 years at most. */
    public static Duration of(long timeout, TimeUnit unit) {
        return Duration.ofNanos(Objects.requireNonNull(unit, "unit").toNanos(timeout));
    }

    /**
     * Runs {@code end} once {@code timeout} has passed: on this thread for a timeout of zero, else on a callback
     * thread.
     *
     * @return the timer, or null if none was started
     */
    public static @Nullable DisposableHandle start(Future<?> future, Duration timeout, Runnable end) {
        long millis = millis(timeout);
        if (future.isDone()) return null;
        if (millis > 0) return Timeouts.schedule(millis, end);
        end.run();
        return null;
    }
}
