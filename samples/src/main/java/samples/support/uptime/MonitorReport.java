package samples.support.uptime;

import baton.monitoring.Alert;
import baton.scheduler.ScheduleMetrics;
import baton.scheduler.ScheduleStore;
import java.io.PrintStream;
import java.nio.file.NoSuchFileException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import samples.support.Failures;
import samples.support.Redaction;
import samples.support.TextFile;

/**
 * The endpoints that the uptime monitor watches, and the results of their checks. All methods may be called from any
 * thread.
 */
public final class MonitorReport {
    /** The number of changes that the live block shows. */
    private static final int LATEST = 8;

    private final MonitorOptions options;
    private final PrintStream out;
    private final PrintStream err;
    private final boolean isLive;
    private final LiveBlock block;
    private final Redaction redaction;
    private final long started = System.nanoTime();
    private final WatchList watches = new WatchList();
    private final Deque<String> latest = new ArrayDeque<>();
    private final Failures failures = new Failures();
    private final RaisedAlerts alerts = new RaisedAlerts();
    private final LoadMeter load = new LoadMeter();
    private Throwable stateFailure;
    private int checks;
    private int retries;

    /** The endpoints that an edit has added or changed, and the names of those that it has removed. */
    public record Edit(List<Endpoint> put, Set<String> removed) {}

    MonitorReport(MonitorOptions options, PrintStream out, PrintStream err, boolean isLive) {
        this.options = options;
        this.out = out;
        this.err = err;
        this.isLive = isLive;
        block = new LiveBlock(out);
        redaction =
                options.state() == null ? Redaction.GENERAL : options.state().redaction();
    }

    /** Prints a line that no live block overwrites. */
    public synchronized void say(String line) {
        block.clear();
        out.println(safe(line));
    }

    /** Prints a line about something that is wrong. */
    public synchronized void warn(String line) {
        block.clear();
        err.println(safe(line));
    }

    /** {@code text} without secrets, and without anything that acts on a terminal. */
    String safe(String text) {
        return TextFile.printable(redaction.of(text));
    }

    /** The schedule reports the failure of {@code key}: of an endpoint, of its state, or of itself. */
    public void scheduleFailed(Object key, Throwable failure) {
        if (key instanceof ScheduleStore) stateFailed(failure);
        else warn(key + ": " + failure);
    }

    /** The schedule's state cannot be read or written. What the schedule has reported is not repeated when it ends. */
    public synchronized void stateFailed(Throwable failure) {
        Throwable cause = Failures.cause(failure);
        // Coroutines may copy an exception that they throw again, and the copy has the original as its cause.
        for (Throwable it = cause; it != null; it = it.getCause()) if (it == stateFailure) return;
        stateFailure = cause;
        String reason = cause instanceof NoSuchFileException missing
                ? "there is no " + missing.getFile()
                : Objects.requireNonNullElse(cause.getMessage(), cause.toString());
        warn("cannot use the state " + options.state() + ": " + reason);
    }

    /** From now on {@code endpoints} are watched, and no others. One that was changed is watched anew. */
    public synchronized Edit edit(List<Endpoint> endpoints) {
        return watches.edit(endpoints);
    }

    /** The endpoint called {@code name}; null if it is not watched. */
    public synchronized Endpoint endpoint(String name) {
        return watches.endpoint(name);
    }

    /** A check begins, {@code lag} after it was due. */
    public synchronized void checkBegins(Duration lag) {
        load.begins(lag);
    }

    /** {@code endpoint} has answered, whatever the answer is. */
    public synchronized void answered(Endpoint endpoint, Duration time) {
        Watch watch = watches.of(endpoint);
        if (watch != null) watch.responseMillis = time.toMillis();
    }

    /** The endpoint called {@code name} is paused, or resumed. */
    synchronized void paused(String name, boolean isPaused) {
        watches.pause(name, isPaused);
    }

    /** A second attempt is to follow. */
    public synchronized void retried() {
        retries++;
    }

    /**
     * A check of {@code endpoint} has ended; {@code failure} is null if it is up. Returns whether a second check must
     * confirm a change.
     */
    public synchronized boolean checkEnds(Endpoint endpoint, Throwable failure) {
        checkEnds(failure);
        Watch watch = watches.of(endpoint);
        // Null if the endpoint was edited while the check was under way.
        if (watch == null) return false;
        CheckHistory.Verdict verdict = watch.add(failure == null);
        if (verdict == CheckHistory.Verdict.CHANGED) {
            changed(endpoint.name() + (failure == null ? " up" : " down (" + watch.reason + ")"));
        }
        if (verdict != CheckHistory.Verdict.UNCONFIRMED) return false;
        if (failure != null) watch.reason = Failures.kind(failure);
        return true;
    }

    /** A check has ended that says nothing about its endpoint. */
    public synchronized void checkEnds(Throwable failure) {
        load.ends();
        checks++;
        if (failure != null) failures.addCall(failure);
    }

    /** The monitor has raised an alert, or cleared it. */
    public synchronized void alert(Alert alert) {
        changed(alerts.add(alert));
    }

    private void changed(String change) {
        String line = String.format(Locale.ROOT, "%7.1f s  %s", seconds(), TextFile.printable(change));
        latest.addLast(line);
        if (latest.size() > LATEST) latest.removeFirst();
        if (!isLive) out.println(line);
    }

    private double seconds() {
        return (System.nanoTime() - started) / 1e9;
    }

    /** Shows the present state, on a terminal. */
    public synchronized void show(ScheduleMetrics metrics) {
        if (!isLive) return;
        List<String> lines = new ArrayList<>();
        lines.add(String.format(
                Locale.ROOT,
                "%7.1f s  up %d, down %d, running %d of %d, lag p50 %d ms, p99 %d ms",
                seconds(),
                watches.count(CheckHistory.State.UP),
                watches.count(CheckHistory.State.DOWN),
                load.running(),
                options.concurrency(),
                metrics.lagP50().toMillis(),
                metrics.lagP99().toMillis()));
        for (String alert : alerts.lines()) lines.add("           alert: " + alert);
        lines.addAll(latest);
        block.show(lines);
    }

    /** The present state; {@code isLook} begins a new interval of the load. */
    synchronized MonitorStatus status(boolean isLook) {
        return new MonitorStatus(
                Duration.ofNanos(System.nanoTime() - started),
                options.speed(),
                load.running(),
                options.concurrency(),
                isLook ? load.look() : null,
                checks,
                failures.count(),
                retries,
                watches.polling(options),
                alerts.lines(),
                watches.statuses());
    }

    /** Prints the summary. Returns whether the changes found are those that {@code server} made. */
    public synchronized boolean sumUp(ScheduleMetrics metrics, DemoServer server) {
        DemoComparison changes = new DemoComparison(options, server, watches.all(), metrics.lagP99());
        block.clear();
        new MonitorSummary(status(false), load.peak(), failures).print(out, metrics, changes);
        changes.differences().forEach(err::println);
        return changes.differences().isEmpty();
    }
}
