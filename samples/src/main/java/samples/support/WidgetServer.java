package samples.support;

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
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** An HTTP server on a free loopback port that has three widgets, of which one may be out of order; and its client. */
public final class WidgetServer implements AutoCloseable {
    private static final Map<String, String> WIDGETS =
            Map.of("news", "nothing new", "stocks", "up and down", "weather", "sunny");

    private static final HttpClient CLIENT = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(10))
            .build();

    private final HttpServer http;
    private final String outOfOrder;

    /** A server whose widget {@code outOfOrder} answers 503; the empty string is no widget. */
    public WidgetServer(String outOfOrder) {
        this.outOfOrder = outOfOrder;
        try {
            http = LoopbackServer.create(0);
        } catch (IOException failure) {
            throw new UncheckedIOException("cannot start the server", failure);
        }
        http.createContext("/", this::answer);
        http.start();
    }

    private void answer(HttpExchange exchange) throws IOException {
        String widget = exchange.getRequestURI().getPath().substring(1);
        String content = WIDGETS.get(widget);
        int status = content == null ? 404 : widget.equals(outOfOrder) ? 503 : 200;
        byte[] body = (status == 200 ? content : "").getBytes(StandardCharsets.UTF_8);
        try (exchange) {
            exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
            exchange.getResponseBody().write(body);
        }
    }

    /** The content of {@code widget}; fails with an {@link IOException} if the server has none for us. */
    public CompletableFuture<String> load(String widget) {
        InetSocketAddress address = http.getAddress();
        URI uri =
                URI.create("http://" + address.getAddress().getHostAddress() + ":" + address.getPort() + "/" + widget);
        HttpRequest request =
                HttpRequest.newBuilder(uri).timeout(Duration.ofSeconds(10)).build();
        return CLIENT.sendAsync(request, BodyHandlers.ofString()).thenCompose(response -> content(widget, response));
    }

    private static CompletableFuture<String> content(String widget, HttpResponse<String> response) {
        int status = response.statusCode();
        return status == 200
                ? CompletableFuture.completedFuture(response.body())
                : CompletableFuture.failedFuture(new IOException("/" + widget + " answered " + status));
    }

    @Override
    public void close() {
        http.stop(0);
    }
}
