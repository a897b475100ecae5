package samples.support;

/**
 * The numbers of the second part of the import, and what they bound, however slow the machine is.
 *
 * <p><i>No call is refused with 429.</i> Calls may be late, so more of them can reach the server in some window of time
 * than the limiter has granted in it; but each of these is of another record that was under way when the window began.
 * So at most {@code BURST + UNDER_WAY + RATE x w} calls reach the server in a window of the length w. The server's
 * quota is above that: {@code SERVER_BURST + SERVER_RATE x w}.
 *
 * <p><i>Calls into the outage.</i> The breaker opens at {@link #FAILURES} failures at the latest, because the window
 * still has all of them: before the last one only the answers to earlier calls can come, at most {@link #UNDER_WAY}. The
 * calls of the other records under way may have passed the breaker before that, and wait for the limiter or the answer.
 * Then each opening is followed by at most {@link #PROBES} calls, of which the first failure opens the breaker again.
 */
public final class QuotaLimits {
    /** The requests a second that the server accepts. */
    static final int SERVER_RATE = 200;

    /** The requests beyond that rate that it accepts at once. */
    static final int SERVER_BURST = 50;

    /** The permits a second of the limiter. */
    public static final int RATE = 180;

    /** The permits that the limiter saves up. */
    public static final int BURST = 8;

    /** The records in flight and those that wait: for their retry, for the limiter. */
    public static final int UNDER_WAY = 32;

    /** How many of the latest calls decide whether the breaker opens. */
    public static final int WINDOW = 50;

    /** With so many failures among them it opens. */
    public static final int FAILURES = 10;

    /** How many calls probe the server at a time after each opening. */
    public static final int PROBES = 3;

    /** The calls into the outage that the breaker cannot hold back before it opens for the first time. */
    static final int BEFORE_OPEN = FAILURES + UNDER_WAY - 1;

    private QuotaLimits() {}

    /** The maximum number of calls into an outage in which the breaker opens so many times. */
    static int mostIntoOutage(int openings) {
        return BEFORE_OPEN + PROBES * openings;
    }
}
