package samples.support;

import baton.interop.AsyncWaitGroup;
import baton.interop.CancellableFuture;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * An HTTP server on a free loopback port, and its client. The server has a hundred pages, an index of them in portions,
 * and a count of the words found in them. It can hold one request for a page, as a slow server would.
 */
public final class PageServer implements AutoCloseable {
    public static final int PAGES = 100;

    /** In all pages: the first has one word, the hundredth has a hundred. */
    public static final int WORDS = PAGES * (PAGES + 1) / 2;

    /** The first portion of the index. */
    public static final String INDEX = "/index/0";

    private static final int PORTION = 10;
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private static final HttpClient CLIENT = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(PATIENCE)
            .build();

    private final HttpServer http;
    private final int answered;
    private final CompletableFuture<HttpExchange> held = new CompletableFuture<>();
    private final AsyncWaitGroup requests = AsyncWaitGroup.create("requests");
    private final AsyncWaitGroup exchanges = AsyncWaitGroup.create("exchanges");

    /** Only the server's thread writes it. */
    private int asked;

    /** Only the server's thread writes it. */
    private volatile int words;

    /** A portion of the index; {@code next} is where the next one is, null after the last. */
    public record Portion(List<String> links, String next) {
        private static Portion parse(String body) {
            List<String> lines = body.lines().toList();
            List<String> links =
                    lines.stream().filter(line -> line.startsWith("/pages/")).toList();
            return new Portion(links, links.size() == lines.size() ? null : lines.get(links.size()));
        }
    }

    /** Starts a server that answers {@code answered} requests for pages and holds the next one. */
    public PageServer(int answered) {
        this.answered = answered;
        try {
            http = LoopbackServer.create(0);
        } catch (IOException failure) {
            throw new UncheckedIOException("cannot start the server", failure);
        }
        http.createContext("/index/", this::answerPortion);
        http.createContext("/pages/", this::answerPage);
        http.createContext("/words/", this::answerCount);
        http.start();
    }

    // ---- its client

    public CancellableFuture<Portion> portion(String path) {
        return get(path).thenApply(Portion::parse);
    }

    public CancellableFuture<String> page(String path) {
        return get(path);
    }

    /** Adds the words of a page to the server's count. */
    public CancellableFuture<String> count(String page) {
        return get("/words/" + page.split(" ").length);
    }

    /** Cancelling the future, or all futures derived from it, aborts the request. */
    private CancellableFuture<String> get(String path) {
        InetSocketAddress address = http.getAddress();
        String host = address.getAddress().getHostAddress() + ":" + address.getPort();
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://" + host + path))
                .timeout(PATIENCE.multipliedBy(3))
                .build();
        requests.add();
        CompletableFuture<HttpResponse<String>> exchange = CLIENT.sendAsync(request, BodyHandlers.ofString());
        exchange.whenComplete((response, failure) -> requests.done());
        return CancellableFuture.of(exchange).thenApply(HttpResponse::body);
    }

    // ---- the server

    private void answerPortion(HttpExchange exchange) {
        exchanges.add();
        int first = number(exchange);
        int next = first + PORTION;
        String links = IntStream.range(first, next)
                .mapToObj(before -> "/pages/" + (before + 1) + "\n")
                .collect(Collectors.joining());
        answer(exchange, next < PAGES ? links + "/index/" + next + "\n" : links);
    }

    private void answerPage(HttpExchange exchange) {
        exchanges.add();
        if (asked++ == answered) held.complete(exchange);
        else answerNow(exchange);
    }

    private void answerNow(HttpExchange exchange) {
        int number = number(exchange);
        answer(exchange, (number + " ").repeat(number).strip());
    }

    private void answerCount(HttpExchange exchange) {
        exchanges.add();
        words += number(exchange);
        answer(exchange, "counted");
    }

    private static int number(HttpExchange exchange) {
        String path = exchange.getRequestURI().getPath();
        return Integer.parseInt(path.substring(path.lastIndexOf('/') + 1));
    }

    private void answer(HttpExchange exchange, String text) {
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        try (exchange) {
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
        } catch (IOException gone) {
            // The client has closed the connection.
        }
        exchanges.done();
    }

    /** The number of words that the client has reported. */
    public int words() {
        return words;
    }

    /** Completes when the request that the server holds has arrived; at once if it holds none. */
    public CompletableFuture<Void> holding() {
        return answered < PAGES ? held.thenAccept(exchange -> {}) : CompletableFuture.completedFuture(null);
    }

    /** The number of requests in flight, after waiting for those that end. */
    public int requests() {
        return left(requests);
    }

    /** The number of open exchanges, after waiting for those that end. Answers the held request now. */
    public int exchanges() {
        held.thenAccept(this::answerNow);
        return left(exchanges);
    }

    private static int left(AsyncWaitGroup group) {
        try {
            group.await(PATIENCE).join();
        } catch (CompletionException late) {
            // Returns the remaining count.
        }
        return group.count();
    }

    @Override
    public void close() {
        http.stop(0);
    }
}
