package samples.support.uptime;

import java.time.Duration;
import java.util.Collection;
import java.util.Locale;

/**
 * The cost of a scheduler that keeps the due times in a table and looks every second for rows that are due.
 *
 * @param queries a minute.
 * @param rows read and written back, each with a commit, a minute: the sum of 1 / interval.
 */
record PollingCost(long queries, long rows) {
    private static final Duration TICK = Duration.ofSeconds(1);
    private static final Duration MINUTE = Duration.ofMinutes(1);

    static PollingCost of(Collection<Duration> intervals) {
        double rows = intervals.stream()
                .mapToDouble(interval -> (double) MINUTE.toNanos() / interval.toNanos())
                .sum();
        return new PollingCost(MINUTE.dividedBy(TICK), Math.round(rows));
    }

    String reads() {
        return String.format(Locale.ROOT, "polling every second: %,d queries for %,d rows", queries, rows);
    }

    String writes() {
        return String.format(Locale.ROOT, "polling: %,d, one for each run", rows);
    }
}
