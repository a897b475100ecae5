package samples.support.uptime;

import baton.Priority;
import baton.scheduler.ScheduleMetrics;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * The uptime monitor as its page shows it.
 *
 * @param elapsed the time since the beginning.
 * @param recent the load since the previous look, if this is one.
 * @param alerts those that are raised, a line each.
 */
record MonitorStatus(
        Duration elapsed,
        int speed,
        int running,
        int limit,
        LoadMeter.Recent recent,
        int checks,
        int failed,
        int retries,
        PollingCost polling,
        List<String> alerts,
        List<EndpointStatus> endpoints) {
    private static final long MINUTE = Duration.ofMinutes(1).toMillis();

    /** All but the endpoints, with the numbers of the schedule. */
    Map<String, Object> numbers(ScheduleMetrics metrics) {
        Map<Priority, Integer> queue = new EnumMap<>(Priority.class);
        for (Priority level : Priority.values()) queue.put(level, metrics.queued(level));
        return Map.ofEntries(
                Map.entry("now", System.currentTimeMillis()),
                Map.entry("elapsed", elapsed.toMillis()),
                Map.entry("speed", speed),
                Map.entry("running", running),
                Map.entry("limit", limit),
                Map.entry("queue", queue),
                Map.entry("lagP50", metrics.lagP50().toMillis()),
                Map.entry("lagP99", metrics.lagP99().toMillis()),
                Map.entry("checks", checks),
                Map.entry("failed", failed),
                Map.entry("retries", retries),
                Map.entry("reads", metrics.getStoreReads()),
                Map.entry("writes", metrics.getStoreWrites()),
                Map.entry("pollingReads", polled(polling.queries())),
                Map.entry("pollingWrites", polled(polling.rows())),
                Map.entry("alerts", alerts));
    }

    /** The cost of polling until now, if it had been done. */
    private long polled(long perMinute) {
        return perMinute * elapsed.toMillis() / MINUTE;
    }

    /** A point of the picture: when, the most checks at a time, the longest wait in milliseconds. */
    List<Long> point(ScheduleMetrics metrics) {
        Duration queued = metrics.headWait();
        Duration wait = queued.compareTo(recent.longestWait()) > 0 ? queued : recent.longestWait();
        return List.of(elapsed.toMillis(), (long) recent.peak(), wait.toMillis());
    }
}
