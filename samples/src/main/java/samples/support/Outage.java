package samples.support;

import java.time.Duration;

/** A time in which a server is out. It begins once, when it is due. */
final class Outage {
    private final Duration length;

    /** In terms of {@link System#nanoTime}. */
    private long end;

    private boolean hasBegun;

    Outage(Duration length) {
        this.length = length;
    }

    synchronized void begin() {
        if (hasBegun) return;
        hasBegun = true;
        end = System.nanoTime() + length.toNanos();
    }

    synchronized boolean isNow() {
        return hasBegun && System.nanoTime() - end < 0;
    }
}
