package samples.support;

import baton.resilience.BreakerState;
import baton.resilience.RetryAttempt;
import java.io.PrintStream;
import java.util.Locale;

/** Counts the results of an import into a server with a quota. All methods may be called from any thread. */
public final class QuotaReport {
    private final int records;
    private final Progress progress;
    private final long started = System.nanoTime();
    private final Failures failures = new Failures();
    private final Failures retries = new Failures();
    private int answered;
    private int openings;

    QuotaReport(int records, PrintStream out) {
        this.records = records;
        progress = Progress.on(out);
    }

    /** The server has answered a record with 200. */
    public synchronized void answered() {
        answered++;
        show();
    }

    /** A record is given up. */
    public synchronized void failed(Throwable failure) {
        failures.addCall(failure);
        show();
    }

    /** Another attempt for a record is to follow. */
    public synchronized void retried(RetryAttempt next) {
        retries.addCall(next.getLastFailure());
        show();
    }

    /** The circuit breaker has changed its state. */
    public synchronized void changed(BreakerState from, BreakerState to) {
        if (to == BreakerState.OPEN) openings++;
    }

    private void show() {
        progress.show(
                answered + failures.count() == records,
                () -> String.format(
                        Locale.ROOT,
                        "%d of %d records arrived, %d failed, %d retries",
                        answered,
                        records,
                        failures.count(),
                        retries.count()));
    }

    synchronized QuotaCounts counts(ImportServer server, QuotaFaults faults) {
        return new QuotaCounts(
                records,
                server.stored(),
                server.requests(),
                faults.overQuota(),
                faults.intoOutage(),
                answered,
                failures.count(),
                retries.count(),
                failures.count(Failures.NOT_SENT) + retries.count(Failures.NOT_SENT),
                openings);
    }

    /** Prints a table. */
    synchronized void print(PrintStream out, String title, QuotaCounts counts) {
        double seconds = (System.nanoTime() - started) / 1e9;
        progress.clear();
        out.println(title);
        Table.row(out, "records", records, "");
        Table.row(out, "arrived exactly once", counts.stored(), "counted by the server");
        Table.row(out, "failed", failures.count(), failures.toString());
        Table.row(out, "retries", retries.count(), retries.toString());
        Table.row(out, "calls", counts.calls(), "that reached the server, of which it refused:");
        Table.row(out, "  with 429", counts.overQuota(), "above its quota");
        Table.row(out, "  into the outage", counts.intoOutage(), "with 503" + bound());
        if (openings > 0) Table.row(out, "openings", openings, "of the circuit breaker");
        Table.elapsed(out, seconds);
        out.println();
    }

    private String bound() {
        if (openings == 0) return "";
        return String.format(
                Locale.ROOT,
                ", at most %d: %d before the first opening, %d probes after each",
                QuotaLimits.mostIntoOutage(openings),
                QuotaLimits.BEFORE_OPEN,
                QuotaLimits.PROBES);
    }
}
