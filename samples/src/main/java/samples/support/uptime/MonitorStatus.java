package samples.support.uptime;

import baton.Priority;
import baton.scheduler.ScheduleMetrics;
import java.time.Duration;
import java.util.List;

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
    String numbers(ScheduleMetrics metrics) {
        Json queue = new Json();
        for (Priority level : Priority.values()) queue.number(level.name(), metrics.queued(level));
        return new Json()
                .number("now", System.currentTimeMillis())
                .number("elapsed", elapsed.toMillis())
                .number("speed", speed)
                .number("running", running)
                .number("limit", limit)
                .raw("queue", queue.toString())
                .number("lagP50", metrics.lagP50().toMillis())
                .number("lagP99", metrics.lagP99().toMillis())
                .number("checks", checks)
                .number("failed", failed)
                .number("retries", retries)
                .number("reads", metrics.getStoreReads())
                .number("writes", metrics.getStoreWrites())
                .number("pollingReads", polled(polling.queries()))
                .number("pollingWrites", polled(polling.rows()))
                .raw("alerts", Json.array(alerts.stream().map(Json::quoted).toList()))
                .toString();
    }

    /** The cost of polling until now, if it had been done. */
    private long polled(long perMinute) {
        return perMinute * elapsed.toMillis() / MINUTE;
    }

    /** A point of the picture: when, the most checks at a time, the longest wait in milliseconds. */
    String point(ScheduleMetrics metrics) {
        Duration queued = metrics.headWait();
        Duration wait = queued.compareTo(recent.longestWait()) > 0 ? queued : recent.longestWait();
        return "[" + elapsed.toMillis() + "," + recent.peak() + "," + wait.toMillis() + "]";
    }
}
