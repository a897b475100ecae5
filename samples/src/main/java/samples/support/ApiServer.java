package samples.support;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.ToIntFunction;

/**
 * An HTTP server on a free loopback port that answers every request after some milliseconds: 200, or 429 if more
 * requests than its limit were in flight when the request came. It has two threads, whatever the number of waiting
 * requests: one accepts requests, one sends responses.
 */
public final class ApiServer implements AutoCloseable {
    private static final int BACKLOG = 4096;

    private final HttpServer http;
    private final ScheduledExecutorService answers = Executors.newSingleThreadScheduledExecutor();
    private final AtomicInteger inFlight = new AtomicInteger();
    private final AtomicInteger peak = new AtomicInteger();
    private final int limit;
    private final int failAfter;
    private final ToIntFunction<String> delay;

    /** Only the thread that sends responses writes it. */
    private int answered;

    private boolean closed;

    private ApiServer(int limit, int failAfter, ToIntFunction<String> delay) throws IOException {
        this.limit = limit;
        this.failAfter = failAfter;
        this.delay = delay;
        http = LoopbackServer.create(0, BACKLOG);
        http.createContext("/", this::handle);
    }

    /**
     * Starts a server that accepts {@code limit} requests at a time and dies after {@code failAfter} responses. A
     * response takes 5 to 50 ms, the same time for the same path.
     */
    public static ApiServer start(int limit, int failAfter) throws IOException {
        return start(limit, failAfter, path -> new SplittableRandom(path.hashCode()).nextInt(5, 51));
    }

    /** The same, but {@code delay} maps a path to the milliseconds that its response takes. */
    public static ApiServer start(int limit, int failAfter, ToIntFunction<String> delay) throws IOException {
        ApiServer server = new ApiServer(limit, failAfter, delay);
        server.http.start();
        return server;
    }

    /** The URI of {@code path}. */
    public URI uri(String path) {
        InetSocketAddress address = http.getAddress();
        return URI.create("http://" + address.getAddress().getHostAddress() + ":" + address.getPort() + path);
    }

    /** The greatest number of requests in flight at a time. */
    public int peak() {
        return peak.get();
    }

    private void handle(HttpExchange exchange) {
        int now = inFlight.incrementAndGet();
        peak.accumulateAndGet(now, Math::max);
        int status = now <= limit ? 200 : 429;
        String path = exchange.getRequestURI().toString();
        answers.schedule(() -> answer(exchange, status, path), delay.applyAsInt(path), TimeUnit.MILLISECONDS);
    }

    private void answer(HttpExchange exchange, int status, String path) {
        byte[] body = (status + " " + path + "\n").getBytes(StandardCharsets.UTF_8);
        // Before the response is complete: otherwise the client's next request could come first and exceed the limit.
        inFlight.decrementAndGet();
        try (exchange) {
            exchange.sendResponseHeaders(status, body.length);
            exchange.getResponseBody().write(body);
        } catch (IOException gone) {
            // The client has closed the connection.
        }
        answered++;
        if (answered == failAfter) close();
    }

    /** Stops the server; requests without a response lose their connection. */
    @Override
    public synchronized void close() {
        if (closed) return;
        closed = true;
        http.stop(0);
        answers.shutdownNow();
    }
}
