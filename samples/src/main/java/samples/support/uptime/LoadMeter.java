package samples.support.uptime;

import java.time.Duration;

/** The checks that run at a time, and their waits before. Not thread-safe: its owner guards it. */
final class LoadMeter {
    private int running;
    private int peak;
    private int recentPeak;
    private Duration recentWait = Duration.ZERO;

    /**
     * The time since the previous look.
     *
     * @param peak the most checks at a time.
     * @param longestWait the longest wait of a check that began, from due to begun.
     */
    record Recent(int peak, Duration longestWait) {}

    /** A check begins, {@code wait} after it was due. */
    void begins(Duration wait) {
        running++;
        peak = Math.max(peak, running);
        recentPeak = Math.max(recentPeak, running);
        if (wait.compareTo(recentWait) > 0) recentWait = wait;
    }

    void ends() {
        running--;
    }

    int running() {
        return running;
    }

    /** The most checks at a time since the beginning. */
    int peak() {
        return peak;
    }

    /** Between two looks nothing is missed. */
    Recent look() {
        Recent recent = new Recent(recentPeak, recentWait);
        recentPeak = running;
        recentWait = Duration.ZERO;
        return recent;
    }
}
