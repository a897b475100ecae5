package samples.java;

import baton.interop.AsyncSemaphore;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.function.Function;
import samples.support.ApiServer;
import samples.support.Cli;
import samples.support.Options;
import samples.support.Tally;

/**
 * Fetches a thousand items from a server that refuses more than five requests at a time: with a semaphore, where every
 * item arrives, and without. {@code samples.RateLimitedClient} is the same in Kotlin.
 */
public final class RateLimitedClient {
    private static final HttpClient CLIENT = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(10))
            .build();

    private RateLimitedClient() {}

    private static CompletableFuture<Integer> get(URI uri) {
        HttpRequest request =
                HttpRequest.newBuilder(uri).timeout(Duration.ofSeconds(10)).build();
        return CLIENT.sendAsync(request, BodyHandlers.ofString()).thenApply(HttpResponse::statusCode);
    }

    /** Starts a future for every item, all at once. */
    private static void fetchAll(List<String> items, Tally tally, Function<String, CompletableFuture<Integer>> fetch) {
        CompletableFuture<?>[] all = items.stream()
                .map(path -> fetch.apply(path).handle((status, failure) -> {
                    if (failure == null) tally.answered(status);
                    else tally.failed(failure);
                    return null;
                }))
                .toArray(CompletableFuture[]::new);
        CompletableFuture.allOf(all).join();
    }

    private static void withSemaphore(List<String> items, int limit, ApiServer server, Tally tally) {
        AsyncSemaphore semaphore = AsyncSemaphore.create(limit);
        fetchAll(
                items,
                tally,
                path -> semaphore.withPermit(() -> get(server.uri(path)).whenComplete((status, failure) -> {
                    // Queued items need not try: they get a SemaphoreClosedException.
                    if (failure != null) semaphore.close(failure);
                })));
    }

    private static void withoutSemaphore(List<String> items, ApiServer server, Tally tally) {
        fetchAll(items, tally, path -> get(server.uri(path)));
    }

    private static Tally measure(
            String title, List<String> items, Options options, PrintStream out, BiConsumer<ApiServer, Tally> fetch)
            throws IOException {
        try (ApiServer server = ApiServer.start(options.serverLimit(), options.failAfter())) {
            Tally tally = new Tally(items.size(), out);
            fetch.accept(server, tally);
            tally.print(out, title, server.peak());
            return tally;
        }
    }

    public static int run(String[] args, PrintStream out, PrintStream err) {
        return Cli.run(args, out, err, (items, options) -> {
            int limit = options.limit();
            Tally limited = measure(
                    "With a semaphore, permits = " + limit,
                    items,
                    options,
                    out,
                    (server, tally) -> withSemaphore(items, limit, server, tally));
            if (!limited.isClean()) {
                err.println("incomplete: " + limited.shortfall());
                return 1;
            }
            measure(
                    "Without the semaphore",
                    items,
                    options,
                    out,
                    (server, tally) -> withoutSemaphore(items, server, tally));
            return 0;
        });
    }

    public static void main(String[] args) {
        Cli.exit(run(args, System.out, System.err));
    }
}
