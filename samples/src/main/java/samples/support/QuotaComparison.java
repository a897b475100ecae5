package samples.support;

import java.io.IOException;
import java.io.PrintStream;
import java.util.List;

/** Imports the same records twice into a server with a quota and an outage, each time into a new one. */
public final class QuotaComparison {
    private final ImportOptions options;
    private final PrintStream out;
    private final PrintStream err;

    QuotaComparison(ImportOptions options, PrintStream out, PrintStream err) {
        this.options = options;
        this.out = out;
        this.err = err;
    }

    /** The code that differs between the languages. It reports what becomes of each record. */
    public interface Client {
        /** Sends every record until it has arrived or its attempts are used up. */
        void retryOnly(ImportOptions options, ImportServer server, QuotaReport report);

        /** The same, with a limiter and a breaker by the {@link QuotaLimits}. */
        void withLimiterAndBreaker(ImportOptions options, ImportServer server, QuotaReport report);
    }

    /** The exit code. */
    int run(Client client) throws IOException {
        measure(
                "Quota of " + QuotaLimits.SERVER_RATE + " calls a second and an outage, with retries alone",
                client::retryOnly);
        List<String> faults = measure("The same with a limiter and a breaker", client::withLimiterAndBreaker)
                .faults();
        for (String fault : faults) err.println("with a limiter and a breaker: " + fault);
        return faults.isEmpty() ? 0 : 1;
    }

    @FunctionalInterface
    private interface Import {
        void run(ImportOptions options, ImportServer server, QuotaReport report);
    }

    private QuotaCounts measure(String title, Import imported) throws IOException {
        int records = options.quotaRecords();
        QuotaFaults faults = new QuotaFaults(records, options.outage());
        try (ImportServer server = ImportServer.start(records, faults)) {
            QuotaReport report = new QuotaReport(records, out);
            imported.run(options, server, report);
            QuotaCounts counts = report.counts(server, faults);
            report.print(out, title, counts);
            return counts;
        }
    }
}
