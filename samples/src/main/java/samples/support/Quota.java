package samples.support;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The quota of a server: a token bucket that begins full. It refuses no request as long as every window of time, of the
 * length w, has at most burst + rate x w of them. A refused request takes no token.
 */
final class Quota {
    private final long nanosPerToken;
    private final long nanosPerBurst;
    private final LongSupplier nanoTime;

    /** When the bucket will be full, unless further requests come. */
    private long full;

    /** @param perSecond the rate, a divisor of a billion: a token takes whole nanoseconds. */
    Quota(int perSecond, int burst, LongSupplier nanoTime) {
        nanosPerToken = TimeUnit.SECONDS.toNanos(1) / perSecond;
        nanosPerBurst = burst * nanosPerToken;
        this.nanoTime = nanoTime;
        full = nanoTime.getAsLong();
    }

    /** Whether the request that comes now is within the quota. */
    synchronized boolean accepts() {
        long now = nanoTime.getAsLong();
        long untilFull = Math.max(0, full - now) + nanosPerToken;
        if (untilFull > nanosPerBurst) return false;
        full = now + untilFull;
        return true;
    }
}
