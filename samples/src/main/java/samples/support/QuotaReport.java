package samples.support;

import baton.resilience.BreakerState;
import java.io.PrintStream;
import java.util.Locale;

/** Counts the results of an import into a server with a quota. All methods may be called from any thread. */
public final class QuotaReport extends RecordCounts {
    private int openings;

    QuotaReport(int records, PrintStream out) {
        super(records, out);
    }

    /** The circuit breaker has changed its state. */
    public synchronized void changed(BreakerState from, BreakerState to) {
        if (to == BreakerState.OPEN) openings++;
    }

    synchronized QuotaCounts counts(ImportServer server, QuotaFaults faults) {
        return new QuotaCounts(
                records,
                server.stored(),
                server.requests(),
                faults.overQuota(),
                faults.intoOutage(),
                answeredCount(),
                failures.count(),
                retries.count(),
                failures.count(Failures.NOT_SENT) + retries.count(Failures.NOT_SENT),
                openings);
    }

    /** Prints a table. */
    synchronized void print(PrintStream out, String title, QuotaCounts counts) {
        printArrived(out, title, counts.stored());
        printFailures(out);
        Table.row(out, "calls", counts.calls(), "that reached the server, of which it refused:");
        Table.row(out, "  with 429", counts.overQuota(), "above its quota");
        Table.row(out, "  into the outage", counts.intoOutage(), "with 503" + bound());
        if (openings > 0) Table.row(out, "openings", openings, "of the circuit breaker");
        printTime(out);
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
