package samples.support;

/**
 * The numbers of the second part of the import, and what they bound, however slow the machine is.
 *
 * <p><i>No call is refused with 429.</i> The limiter grants at most {@code BURST + RATE x w} calls in a window of the
 * length w. Calls that were granted before the window may reach the server in it, if they are late. Each of them is of a
 * record under way, so there are at most {@code UNDER_WAY}. The sum is within the quota of the server, which is {@code
 * SERVER_BURST + SERVER_RATE x w}.
 *
 * <p><i>Few calls go into the outage.</i> The breaker opens at {@link #FAILURES} failures at the latest: until then the
 * window holds all of them, because at most {@link #UNDER_WAY} answers to earlier calls come between. By then the calls
 * of all other records under way may have passed the breaker; they wait for the limiter, or for their answer. After each
 * opening at most {@link #PROBES} calls pass the breaker, until the first failure opens it again.
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

    /** The calls into the outage that may have passed the breaker before it opens for the first time. */
    static final int BEFORE_OPEN = FAILURES + UNDER_WAY - 1;

    private QuotaLimits() {}

    /** The maximum number of calls into an outage in which the breaker opens so many times. */
    static int mostIntoOutage(int openings) {
        return BEFORE_OPEN + PROBES * openings;
    }
}
