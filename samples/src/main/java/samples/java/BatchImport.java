package samples.java;

import baton.interop.AsyncRetry;
import baton.interop.AsyncSemaphore;
import baton.interop.Tasks;
import baton.parallel.MemoryGate;
import java.io.PrintStream;
import java.net.http.HttpClient;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import samples.support.Cli;
import samples.support.HeapMeter;
import samples.support.ImportOptions;
import samples.support.ImportRecord;
import samples.support.ImportReport;
import samples.support.ImportServer;
import samples.support.QuotaReport;
import samples.support.RefusedException;

/**
 * Sends five thousand records to a server with the faults of a real one: all at once, where most are lost, and then in
 * chunks with a limit, a bound of the heap and retries, where every record arrives exactly once. The second part is
 * {@link QuotaImport}. {@code samples.BatchImport} is the same in Kotlin.
 */
public final class BatchImport {
    /** Chunks come in order, and a Retry-After is a second at least: enough for what arrives meanwhile. */
    private static final int CHUNK = 500;

    /** The records in flight and those that wait for their retry. */
    private static final int UNDER_WAY = 64;

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

    private void withBaton(ImportOptions options, HeapMeter heap, ImportReport report) {
        MemoryGate gate = MemoryGate.create(0.80, 0.70, HeapMeter.BOUND, Duration.ofMillis(50), heap::used);
        // An attempt takes as many permits as its record weighs. A record that waits for its retry takes none.
        AsyncSemaphore weights = AsyncSemaphore.create(options.limit());
        AsyncRetry retry = AsyncRetry.builder()
                .maxAttempts(options.attempts())
                .exponential(Duration.ofMillis(100), Duration.ofSeconds(1))
                // Equal: the waits of ten attempts are together longer than the outage, whatever the random numbers.
                .equalJitter()
                .retryIf(RefusedException::isTemporary)
                .retryAfter(failure -> AsyncRetry.parseRetryAfter(RefusedException.retryAfter(failure)))
                .onRetry(report::retried)
                .build();
        Flow.Publisher<List<String>> chunks = Tasks.processInChunks(
                ImportRecord.read(options.records()),
                CHUNK,
                UNDER_WAY,
                gate,
                record -> retry.call(() -> weights.withPermits(
                        record.weight(),
                        () -> send(record).thenApply(answer -> {
                            report.answered();
                            return answer;
                        }))));
        Saver saver = new Saver(report);
        chunks.subscribe(saver);
        saver.all.join();
    }

    /** Saves one chunk after the other. */
    private static final class Saver implements Flow.Subscriber<List<String>> {
        private final ImportReport report;
        private final CompletableFuture<Void> all = new CompletableFuture<>();
        private Flow.Subscription subscription;

        private Saver(ImportReport report) {
            this.report = report;
        }

        @Override
        public void onSubscribe(Flow.Subscription chunks) {
            subscription = chunks;
            subscription.request(1);
        }

        @Override
        public void onNext(List<String> answers) {
            try {
                report.saved(answers);
                subscription.request(1);
            } catch (RuntimeException e) { // a subscriber that throws gets no further signal
                subscription.cancel();
                all.completeExceptionally(e);
            }
        }

        @Override
        public void onError(Throwable failure) {
            all.completeExceptionally(failure);
        }

        @Override
        public void onComplete() {
            all.complete(null);
        }
    }

    private static final class Client implements Cli.ImportClient {
        @Override
        public void allAtOnce(int records, ImportServer server, ImportReport report) {
            new BatchImport(server, Duration.ofSeconds(1)).allAtOnce(records, report);
        }

        @Override
        public void withBaton(ImportOptions options, ImportServer server, HeapMeter heap, ImportReport report) {
            new BatchImport(server, Duration.ofSeconds(2)).withBaton(options, heap, report);
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
