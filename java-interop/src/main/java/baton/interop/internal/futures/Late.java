package baton.interop.internal.futures;

import baton.PermitTimeoutException;
import baton.bridge.Durations;
import baton.bridge.RateLimiterBridge;
import baton.resilience.RateLimiter;
import baton.sync.BarrierTimeoutException;
import baton.waiting.flight.FlightEvents;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * The failures of requests that were not granted in time, the same for futures and for threads. The text ends
 * with the primitive, the last argument.
 */
public final class Late {
    private Late() {}

    public static PermitTimeoutException acquire(int permits, @Nullable Duration timeout, Object from) {
        return acquire(permits, timeout, from, null);
    }

    /** A rate limiter knows when its permits come. */
    public static PermitTimeoutException acquire(int permits, @Nullable Duration timeout, RateLimiter from) {
        return acquire(permits, timeout, from, RateLimiterBridge.retryIn(from, permits));
    }

    private static PermitTimeoutException acquire(
            int permits, @Nullable Duration timeout, Object from, @Nullable Duration retryIn) {
        String what = permits == 1 ? "permit" : permits + " permits";
        return FlightEvents.late("no " + what + " " + within(timeout) + " from ", from, retryIn);
    }

    public static PermitTimeoutException lock(Duration timeout, Object mutex) {
        return FlightEvents.late("not locked " + within(timeout) + ": ", mutex);
    }

    public static PermitTimeoutException lock(LockMode mode, Duration timeout, Object lock) {
        return FlightEvents.late("not locked " + mode.purpose + " " + within(timeout) + ": ", lock);
    }

    public static PermitTimeoutException upgrade(Duration timeout, Object lock) {
        return FlightEvents.late("not upgraded " + within(timeout) + ": ", lock);
    }

    public static PermitTimeoutException send(@Nullable Duration timeout, Object channel) {
        return FlightEvents.late("not sent " + within(timeout) + ": ", channel);
    }

    public static PermitTimeoutException reserve(@Nullable Duration timeout, Object channel) {
        return FlightEvents.late("no place " + within(timeout) + ": ", channel);
    }

    public static TimeoutException receive(@Nullable Duration timeout, Object channel) {
        return new TimeoutException("nothing received " + within(timeout) + ": " + channel);
    }

    public static BarrierTimeoutException arrive(Duration timeout, Object barrier) {
        return new BarrierTimeoutException("not all arrived " + within(timeout) + ": " + barrier);
    }

    public static TimeoutException await(@Nullable Duration timeout, Object group) {
        return new TimeoutException("not zero " + within(timeout) + ": " + group);
    }

    public static PermitTimeoutException slot(@Nullable Duration timeout, Object scheduler) {
        return FlightEvents.late("no slot " + within(timeout) + ": ", scheduler);
    }

    private static String within(@Nullable Duration timeout) {
        return timeout == null ? "in time" : "within " + Durations.textOf(timeout);
    }
}
