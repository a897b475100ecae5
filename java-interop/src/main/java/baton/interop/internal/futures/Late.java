package baton.interop.internal.futures;

import baton.bridge.Durations;
import baton.channels.Channel;
import baton.resilience.RateLimiter;
import baton.shared.SharedMutex;
import baton.shared.SharedSemaphore;
import baton.shared.SharedWaitGroup;
import baton.sync.Barrier;
import baton.sync.Mutex;
import baton.sync.ReadWriteLock;
import baton.sync.Semaphore;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The messages of requests that were not granted in time, the same for futures and for threads. */
public final class Late {
    private Late() {}

    public static String acquire(int permits, Duration timeout, Semaphore semaphore) {
        return noPermits(permits, timeout, semaphore);
    }

    public static String acquire(int permits, Duration timeout, RateLimiter limiter) {
        return noPermits(permits, timeout, limiter);
    }

    public static String acquire(int permits, @Nullable Duration timeout, SharedSemaphore semaphore) {
        return noPermits(permits, timeout, semaphore);
    }

    private static String noPermits(int permits, @Nullable Duration timeout, Object from) {
        return "no " + (permits == 1 ? "permit" : permits + " permits") + " " + within(timeout) + " from " + from;
    }

    public static String lock(Duration timeout, Mutex mutex) {
        return "not locked " + within(timeout) + ": " + mutex;
    }

    public static String lock(Duration timeout, SharedMutex mutex) {
        return "not locked " + within(timeout) + ": " + mutex;
    }

    public static String lock(LockMode mode, Duration timeout, ReadWriteLock lock) {
        return "not locked " + mode.purpose + " " + within(timeout) + ": " + lock;
    }

    public static String send(@Nullable Duration timeout, Channel<?> channel) {
        return "not sent " + within(timeout) + ": " + channel;
    }

    public static String reserve(@Nullable Duration timeout, Channel<?> channel) {
        return "no place " + within(timeout) + ": " + channel;
    }

    public static String receive(@Nullable Duration timeout, Channel<?> channel) {
        return "nothing received " + within(timeout) + ": " + channel;
    }

    public static String arrive(Duration timeout, Barrier barrier) {
        return "not all arrived " + within(timeout) + ": " + barrier;
    }

    public static String await(@Nullable Duration timeout, SharedWaitGroup group) {
        return "not zero " + within(timeout) + ": " + group;
    }

    private static String within(@Nullable Duration timeout) {
        return timeout == null ? "in time" : "within " + Durations.textOf(timeout);
    }
}
