package samples.support.uptime;

import baton.scheduler.ScheduleMetrics;
import java.io.PrintStream;
import java.util.Locale;
import samples.support.Failures;
import samples.support.Table;

/**
 * The table at the end of a run of the uptime monitor.
 *
 * @param peak the most checks at a time.
 */
record MonitorSummary(MonitorStatus status, int peak, Failures failures) {
    void print(PrintStream out, ScheduleMetrics metrics, DemoComparison changes) {
        double seconds = status.elapsed().toNanos() / 1e9;
        double minutes = seconds / 60;
        out.printf(
                Locale.ROOT,
                "%n%d endpoints, %.1f s, at %d times the speed%n",
                status.endpoints().size(),
                seconds,
                status.speed());
        Table.row(out, "checks", status.checks(), "");
        Table.row(out, "  failed", failures.count(), failures.toString());
        Table.row(out, "  retries", status.retries(), "");
        Table.row(out, "up at the end", count(CheckHistory.State.UP), "");
        Table.row(out, "down at the end", count(CheckHistory.State.DOWN), "");
        Table.row(out, "lag p50", metrics.lagP50().toMillis(), "ms, from due to begun");
        Table.row(out, "lag p99", metrics.lagP99().toMillis(), "ms");
        Table.row(out, "peak at once", peak, "of " + status.limit());
        PollingCost polling = status.polling();
        Table.row(out, "store reads a minute", Math.round(metrics.getStoreReads() / minutes), polling.reads());
        Table.row(out, "store writes a minute", Math.round(metrics.getStoreWrites() / minutes), polling.writes());
        Table.row(out, "changes found", changes.found(), changes.note());
    }

    private long count(CheckHistory.State state) {
        return status.endpoints().stream()
                .filter(endpoint -> endpoint.state() == state)
                .count();
    }
}
