package guide.readme;

import static java.net.http.HttpResponse.BodyHandlers.ofString;
import static java.util.concurrent.TimeUnit.SECONDS;

import baton.Refusal;
import baton.interop.AsyncCircuitBreaker;
import baton.interop.AsyncSemaphore;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** The Java code of README.md; {@code MarkdownTest} compares the two. */
final class ReadmeJavaSnippets {
    private final HttpClient client = HttpClient.newHttpClient();

    private static HttpRequest get(String path) {
        return HttpRequest.newBuilder(URI.create("http://localhost/" + path)).build();
    }

    AsyncSemaphore atMostFive = AsyncSemaphore.create(5);

    CompletableFuture<String> fetch(String path) {
        return atMostFive.withPermit(
                () -> client.sendAsync(get(path), ofString()).thenApply(HttpResponse::body));
    }

    String fetchBlocking(String path) throws Exception {
        return atMostFive
                .blocking()
                .call(() -> client.send(get(path), ofString()).body());
    }

    private final AsyncCircuitBreaker breaker = AsyncCircuitBreaker.create("localhost");

    private CompletableFuture<String> send(String path) {
        return client.sendAsync(get(path), ofString()).thenApply(HttpResponse::body);
    }

    CompletableFuture<String> fetchGuarded(String path) {
        return breaker.protect(
                () -> atMostFive.withPermit(() -> send(path).orTimeout(2, SECONDS), Duration.ofMillis(100)));
    }

    Optional<String> fetchIfAdmitted(String path) {
        try {
            return Optional.of(fetchGuarded(path).join());
        } catch (CompletionException e) {
            if (e.getCause() instanceof Refusal) return Optional.empty();
            throw e;
        }
    }
}
