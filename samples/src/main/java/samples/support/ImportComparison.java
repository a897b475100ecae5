package samples.support;

import java.io.IOException;
import java.io.PrintStream;
import java.util.concurrent.CompletionException;

/** Imports the same records twice, each time into a new server: the first part of the import. */
public final class ImportComparison {
    private final ImportOptions options;
    private final PrintStream out;
    private final PrintStream err;

    ImportComparison(ImportOptions options, PrintStream out, PrintStream err) {
        this.options = options;
        this.out = out;
        this.err = err;
    }

    /** The code that differs between the languages. */
    public interface Client {
        /** Sends all {@code records} at once, each once, and reports every answer and failure. */
        void allAtOnce(int records, ImportServer server, ImportReport report) throws IOException;

        /** Sends all records until they have arrived, and reports what became of each. */
        void withBaton(ImportOptions options, ImportServer server, ImportReport report) throws IOException;
    }

    /** The exit code. */
    int run(Client client) throws IOException {
        int atOnce = ProcessLimits.connections(options.records());
        String some = atOnce < options.records() ? ", as many as this process can have" : "";
        measure("All at once, no retry" + some, atOnce, (server, report) -> client.allAtOnce(atOnce, server, report));
        int tasks = options.config().getMaxConcurrentTasks();
        ImportReport report = measure(
                "With Baton, " + tasks + (tasks == 1 ? " record" : " records") + " at a time, weight in flight = "
                        + options.limit(),
                options.records(),
                (server, reported) -> client.withBaton(options, server, reported));
        if (report.isComplete()) return 0;
        err.println("incomplete: " + report.shortfall());
        return 1;
    }

    @FunctionalInterface
    private interface Import {
        void run(ImportServer server, ImportReport report) throws IOException;
    }

    private ImportReport measure(String title, int records, Import imported) throws IOException {
        CountedFaults faults = new CountedFaults(records);
        try (HeapMeter heap = new HeapMeter();
                ImportServer server = ImportServer.start(records, faults)) {
            ImportReport report = new ImportReport(records, server, faults, heap, out);
            try {
                imported.run(server, report);
            } catch (IOException | CompletionException failure) {
                report.failed(failure);
            }
            report.print(out, title);
            return report;
        }
    }
}
