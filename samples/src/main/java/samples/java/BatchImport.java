package samples.java;

import baton.batch.BatchProcessor;
import baton.batch.ConcurrencyConfig;
import baton.interop.AsyncBatchProcessor;
import baton.interop.AsyncRetry;
import baton.interop.AsyncSemaphore;
import java.io.PrintStream;
import java.net.http.HttpClient;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import samples.support.Cli;
import samples.support.ImportOptions;
import samples.support.ImportRecord;
import samples.support.ImportReport;
import samples.support.ImportServer;
import samples.support.QuotaReport;
import samples.support.RefusedException;

/**
 * Sends five thousand records to a server with the faults of a real one: all at once, where most are lost, and then in
 * batches with a limit, a bound of the heap and retries, where every record arrives exactly once, and the report accounts
 * for each. The second part is {@link QuotaImport}. {@code samples.BatchImport} is the same in Kotlin.
 */
public final class BatchImport {
    private final ImportServer server;
    private final Duration patience;
    private final HttpClient client;

    private BatchImport(ImportServer server, Duration patience) {
        this.server = server;
        this.patience = patience;
        client = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(patience)
                .build();
    }

    /** The answer of the server; fails with a {@link RefusedException} if that is not 200. */
    private CompletableFuture<String> send(ImportRecord record) {
        return client.sendAsync(server.request(record, patience), BodyHandlers.ofString())
                .thenCompose(RefusedException::bodyOf);
    }

    private void allAtOnce(int records, ImportReport report) {
        CompletableFuture<?>[] all = ImportRecord.read(records)
                .map(record -> send(record).handle((answer, failure) -> {
                    if (failure == null) report.answered();
                    else report.failed(failure);
                    return null;
                }))
                .toArray(CompletableFuture[]::new);
        report.allStarted();
        CompletableFuture.allOf(all).join();
    }

    private void withBaton(ImportOptions options, ImportReport report) {
        // Read from -Dimport.maxConcurrentTasks=… and the like.
        ConcurrencyConfig config = options.config();
        // An attempt takes as many permits as its record weighs. A record that waits for its retry takes none.
        AsyncSemaphore weights = AsyncSemaphore.create(options.limit());
        ConcurrencyConfig.Retry numbers = config.getRetry();
        AsyncRetry retry = AsyncRetry.builder()
                .maxAttempts(numbers.getMaxAttempts())
                .exponential(numbers.baseDelay(), numbers.maxDelay())
                .jitter(numbers.getJitterFactor())
                .retryIf(RefusedException::isTemporary)
                .retryAfter(failure -> AsyncRetry.parseRetryAfter(RefusedException.retryAfter(failure)))
                .onRetry(report::retried)
                .build();
        AsyncBatchProcessor batch =
                AsyncBatchProcessor.of(new BatchProcessor(config, retry.kotlin(), null, null, "import", null));
        Iterable<ImportRecord> records = ImportRecord.read(options.records()).peek(record -> report.pulled())::iterator;
        report.ended(batch.process(
                        records,
                        record -> weights.withPermits(
                                record.weight(),
                                () -> send(record).thenApply(answer -> {
                                    report.answered();
                                    return answer;
                                })),
                        (record, answer) -> {
                            report.saved();
                            return CompletableFuture.completedFuture(null);
                        },
                        options.maxFailures(),
                        progress -> {})
                .join());
    }

    private static final class Client implements Cli.ImportClient {
        @Override
        public void allAtOnce(int records, ImportServer server, ImportReport report) {
            new BatchImport(server, Duration.ofSeconds(1)).allAtOnce(records, report);
        }

        @Override
        public void withBaton(ImportOptions options, ImportServer server, ImportReport report) {
            new BatchImport(server, Duration.ofSeconds(10)).withBaton(options, report);
        }

        @Override
        public void retryOnly(ImportOptions options, ImportServer server, QuotaReport report) {
            quotaImport(options, server, report).retryOnly();
        }

        @Override
        public void withLimiterAndBreaker(ImportOptions options, ImportServer server, QuotaReport report) {
            quotaImport(options, server, report).withLimiterAndBreaker();
        }

        /** Patient: a call that has timed out could still reach the server, beside its successor. */
        private static QuotaImport quotaImport(ImportOptions options, ImportServer server, QuotaReport report) {
            return new QuotaImport(options, report, new BatchImport(server, Duration.ofSeconds(10))::send);
        }
    }

    /** Returns the exit code: 0 if with Baton all is as it should be. */
    public static int run(String[] args, PrintStream out, PrintStream err) {
        return Cli.runImports(args, out, err, new Client());
    }

    public static void main(String[] args) {
        Cli.exit(run(args, System.out, System.err));
    }
}
