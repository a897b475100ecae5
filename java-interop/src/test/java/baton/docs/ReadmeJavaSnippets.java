package baton.docs;

import static java.net.http.HttpResponse.BodyHandlers.ofString;

import baton.interop.AsyncSemaphore;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.CompletableFuture;

/** The Java code of README.md; {@link DocSnippetsTest} compares the two. */
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
}
