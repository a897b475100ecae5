package samples.support;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * An HTTP server on a free loopback port that stores records, with the given faults.
 *
 * <p>It knows a record by its number: one that comes again, because the first answer was lost, is not stored again.
 */
public final class ImportServer implements AutoCloseable {
    private static final int BACKLOG = 4096;
    private static final int READERS = 4;

    private static final int MILLIS_PER_WEIGHT = 4;

    private final HttpServer http;
    private final ExecutorService readers = Executors.newFixedThreadPool(READERS);
    private final ScheduledExecutorService answers = Executors.newSingleThreadScheduledExecutor();
    private final Faults faults;
    private final AtomicIntegerArray timesStored;
    private final AtomicInteger stored = new AtomicInteger();
    private final AtomicInteger again = new AtomicInteger();
    private final AtomicInteger requests = new AtomicInteger();
    private final AtomicInteger inFlight = new AtomicInteger();
    private final AtomicInteger peak = new AtomicInteger();

    private ImportServer(int records, Faults faults) throws IOException {
        this.faults = faults;
        timesStored = new AtomicIntegerArray(records);
        http = LoopbackServer.create(0, BACKLOG);
        http.createContext("/records/", this::handle);
        http.setExecutor(readers);
    }

    /** Starts a server for an import of {@code records} records. */
    static ImportServer start(int records, Faults faults) throws IOException {
        ImportServer server = new ImportServer(records, faults);
        server.http.start();
        return server;
    }

    /**
     * The request that sends {@code record}, and fails after {@code patience}. It may be sent again: the server stores
     * the record once.
     */
    public HttpRequest request(ImportRecord record, Duration patience) {
        InetSocketAddress address = http.getAddress();
        String host = address.getAddress().getHostAddress() + ":" + address.getPort();
        return HttpRequest.newBuilder(URI.create("http://" + host + "/records/" + record.number()))
                .timeout(patience)
                .POST(BodyPublishers.ofByteArray(record.payload()))
                .build();
    }

    private void handle(HttpExchange exchange) throws IOException {
        int request = requests.incrementAndGet();
        String path = exchange.getRequestURI().getPath();
        int number = Integer.parseInt(path.substring(path.lastIndexOf('/') + 1));
        int weight = ImportRecord.weight(number);
        int now = inFlight.addAndGet(weight);
        peak.accumulateAndGet(now, Math::max);
        faults.came(number);
        if (faults.losesRequest(request)) {
            inFlight.addAndGet(-weight);
            exchange.close();
            return;
        }
        try {
            int size = exchange.getRequestBody().readAllBytes().length;
            int status = size == ImportRecord.size(number) ? faults.status(number, now) : 400;
            boolean answerIsLost = status == 200 && faults.losesAnswer(request);
            answers.schedule(
                    () -> {
                        if (status == 200) store(number);
                        // Before the response is complete: otherwise the client's next request could come first.
                        inFlight.addAndGet(-weight);
                        if (answerIsLost) exchange.close();
                        else answer(exchange, status, number);
                    },
                    MILLIS_PER_WEIGHT * weight,
                    TimeUnit.MILLISECONDS);
        } catch (IOException | RuntimeException e) { // the client has gone, or the server is closed
            inFlight.addAndGet(-weight);
            throw e;
        }
    }

    private void store(int number) {
        if (!timesStored.compareAndSet(number, 0, 1)) {
            again.incrementAndGet();
            return;
        }
        faults.stored(stored.incrementAndGet());
    }

    private void answer(HttpExchange exchange, int status, int number) {
        byte[] body = ("record " + number + "\n").getBytes(StandardCharsets.UTF_8);
        try (exchange) {
            if (status == 429) {
                faults.retryAfter(number)
                        .ifPresent(time -> exchange.getResponseHeaders().set("Retry-After", time));
            }
            exchange.sendResponseHeaders(status, body.length);
            exchange.getResponseBody().write(body);
        } catch (IOException gone) {
            // The client has closed the connection.
        }
    }

    /** The number of records that are stored. */
    int stored() {
        return stored.get();
    }

    /** The number of records that came again although they were stored, and were not stored again. */
    int again() {
        return again.get();
    }

    /** The number of requests. */
    int requests() {
        return requests.get();
    }

    /** The greatest weight in flight at a time. */
    int peak() {
        return peak.get();
    }

    @Override
    public void close() {
        http.stop(0);
        answers.shutdownNow();
        readers.shutdownNow();
    }
}
