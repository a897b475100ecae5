package samples.support;

import java.time.Duration;
import java.util.List;

/** A time in which a server is out. It begins once, when it is due. */
public final class Outage {
    private final Duration length;

    /** In terms of {@link System#nanoTime}. */
    private long end;

    private boolean hasBegun;

    public Outage(Duration length) {
        this.length = length;
    }

    public synchronized void begin() {
        if (hasBegun) return;
        hasBegun = true;
        end = System.nanoTime() + length.toNanos();
    }

    public synchronized boolean isNow() {
        return hasBegun && System.nanoTime() - end < 0;
    }

    /** When it has begun and when it has ended, so far; in terms of {@link System#nanoTime}. */
    public synchronized List<Long> changes() {
        if (!hasBegun) return List.of();
        long begin = end - length.toNanos();
        return isNow() ? List.of(begin) : List.of(begin, end);
    }
}
