package baton.interop;

import java.time.Duration;
import java.util.Objects;

/** Timeouts as Java gives them. */
final class Timeout {
    private Timeout() {}

    /**
     * In whole milliseconds, rounded up, {@link Long#MAX_VALUE} at most.
     *
     * @throws IllegalArgumentException if it is negative
     */
    static long millis(Duration timeout) {
        Objects.requireNonNull(timeout, "timeout");
        if (timeout.isNegative()) throw new IllegalArgumentException("timeout = " + timeout + ", must not be negative");
        try {
            return timeout.plusNanos(999_999).toMillis();
        } catch (ArithmeticException e) {
            return Long.MAX_VALUE;
        }
    }
}
