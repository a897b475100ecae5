package samples.java;

import baton.interop.CancellableFuture;
import java.io.PrintStream;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import samples.support.Cli;
import samples.support.SearchServer;

/**
 * A user types a word, and every letter starts a search. It cancels the previous search together with its request: the
 * server sees that the connection is closed. {@code samples.SearchAsYouType} is the same in Kotlin.
 */
public final class SearchAsYouType {
    private static final String WORD = "baton";

    private static final HttpClient CLIENT = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(10))
            .build();

    private SearchAsYouType() {}

    /** Cancelling this last stage propagates up the chain to the exchange and aborts it. */
    private static CancellableFuture<String> search(SearchServer server, String query) {
        return CancellableFuture.of(CLIENT.sendAsync(server.request(query), BodyHandlers.ofString()))
                .thenApply(HttpResponse::body);
    }

    private static String type(SearchServer server) {
        CancellableFuture<String> search = search(server, WORD.substring(0, 1));
        server.seen(WORD.substring(0, 1)).join();
        for (int letters = 2; letters <= WORD.length(); letters++) {
            search.cancel(true);
            search = search(server, WORD.substring(0, letters));
            server.seen(WORD.substring(0, letters)).join();
        }
        return search.join();
    }

    /** Returns the exit code: 0 if only the last query was answered, and all others were aborted. */
    public static int run(String[] args, PrintStream out, PrintStream err) {
        return Cli.runWithoutOptions(args, err, () -> {
            try (SearchServer server = new SearchServer(WORD)) {
                String shown = type(server);
                return server.report(out, WORD, shown, SearchServer.PATIENCE);
            }
        });
    }

    public static void main(String[] args) {
        Cli.exit(run(args, System.out, System.err));
    }
}
