package samples.java;

import baton.interop.AsyncRetry;
import baton.interop.AsyncSemaphore;
import baton.interop.Tasks;
import java.io.PrintStream;
import java.net.http.HttpClient;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import samples.support.Cli;
import samples.support.HeapMeter;
import samples.support.ImportComparison;
import samples.support.ImportOptions;
import samples.support.ImportRecord;
import samples.support.ImportReport;
import samples.support.ImportServer;
import samples.support.RefusedException;

public final class BatchImport implements ImportComparison.Client {
    private static final int CHUNK = 50;
    private static final int UNDER_WAY = 64;

    private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(Duration.ofSeconds(4)).build();

    private CompletableFuture<Integer> send(ImportRecord record, ImportServer server) {
        return client.sendAsync(server.request(record), BodyHandlers.ofString()).thenApply(response -> {
            try {
                RefusedException.bodyOf(response);
                return record.number();
            } catch (RefusedException e) {
                throw new CompletionException(e);
            }
        });
    }

    @Override
    public void allAtOnce(int records, ImportServer server, ImportReport report) {
        CompletableFuture<?>[] all = ImportRecord.read(records)
                .map(record -> send(record, server).handle((number, failure) -> {
                    if (failure == null) report.answered();
                    else report.failed(failure);
                    return null;
                }))
                .toArray(CompletableFuture[]::new);
        report.allStarted();
        CompletableFuture.allOf(all).join();
    }

    @Override
    public void withBaton(ImportOptions options, ImportServer server, HeapMeter heap, ImportReport report) {
        AsyncSemaphore room = AsyncSemaphore.create(options.limit());
        AsyncRetry retry = AsyncRetry.builder()
                .maxAttempts(options.attempts())
                .exponential(Duration.ofMillis(100), Duration.ofSeconds(1))
                .equalJitter()
                .retryIf(RefusedException::isTemporary)
                .retryAfter(e -> e instanceof RefusedException r ? AsyncRetry.parseRetryAfter(Optional.ofNullable(r.retryAfter())) : Optional.empty())
                .onRetry(report::retried)
                .build();
        Tasks.forEachLimit(() -> ImportRecord.read(options.records()).iterator(), UNDER_WAY, record -> retry.call(() -> room.withPermits(record.weight(), () -> send(record, server))).thenAccept(n -> report.answered())).join();
    }

    public static int run(String[] args, PrintStream out, PrintStream err) {
        return Cli.runImports(args, out, err, new BatchImport());
    }

    public static void main(String[] args) {
        Cli.exit(run(args, System.out, System.err));
    }
}
