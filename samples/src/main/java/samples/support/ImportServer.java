package samples.support;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
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
 * An HTTP server on a free loopback port that stores records, with the faults of a real one. It answers 429 while too
 * much is in flight, and after each third of the records, when their quota is used up; it drops connections before it
 * has read a request and after it has stored the record; and it is out for a second when it has half of the records.
 * Counts and not the time decide when that happens, so a slow machine sees the same faults.
 *
 * <p>It knows a record by its number: one that comes again, because the first answer was lost, is not stored again.
 */
public final class ImportServer implements AutoCloseable {
    /** The weight in flight above which it answers 429. */
    static final int CAPACITY = 40;

    private static final int BACKLOG = 4096;
    private static final int READERS = 4;

    /** How often the quota is used up during an import, and for how many requests. */
    private static final int QUOTAS = 3;

    private static final int MAX_REFUSED_BY_QUOTA = 30;

    /** Of so many requests one loses its connection before it is read, and another one its answer. */
    private static final int RESET_EVERY = 100;

    private static final int MILLIS_PER_WEIGHT = 4;

    private static final Duration OUTAGE = Duration.ofSeconds(1);

    private final HttpServer http;
    private final ExecutorService readers = Executors.newFixedThreadPool(READERS);
    private final ScheduledExecutorService answers = Executors.newSingleThreadScheduledExecutor();
    private final Outage outage = new Outage(OUTAGE);
    private final Throttle throttle = new Throttle();
    private final AtomicIntegerArray timesStored;
    private final int quota;
    private final int refusedByQuota;
    private final AtomicInteger stored = new AtomicInteger();
    private final AtomicInteger again = new AtomicInteger();
    private final AtomicInteger requests = new AtomicInteger();
    private final AtomicInteger overQuota = new AtomicInteger();
    private final AtomicInteger inFlight = new AtomicInteger();
    private final AtomicInteger peak = new AtomicInteger();

    static {
        // Otherwise the second half of a response, its body, may wait 40 ms for the acknowledgement of the first.
        System.setProperty("sun.net.httpserver.nodelay", "true");
    }

    private ImportServer(int records) throws IOException {
        timesStored = new AtomicIntegerArray(records);
        quota = Math.max(1, records / QUOTAS);
        refusedByQuota = Math.min(MAX_REFUSED_BY_QUOTA, quota / QUOTAS);
        http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), BACKLOG);
        http.createContext("/records/", this::handle);
        http.setExecutor(readers);
    }

    /** Starts a server for an import of {@code records} records. */
    public static ImportServer start(int records) throws IOException {
        ImportServer server = new ImportServer(records);
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
        throttle.came(number);
        if (request % RESET_EVERY == 0) {
            inFlight.addAndGet(-weight);
            exchange.close();
            return;
        }
        try {
            int size = exchange.getRequestBody().readAllBytes().length;
            int status = status(number, now, size == ImportRecord.size(number));
            boolean answerIsLost = status == 200 && request % RESET_EVERY == RESET_EVERY / 2;
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

    private int status(int number, int weightInFlight, boolean isWhole) {
        if (!isWhole) return 400;
        if (outage.isNow()) return 503;
        if (weightInFlight > CAPACITY) return 429;
        // Otherwise a record that comes alone could be refused over and over.
        if (throttle.hasRefused(number)) return 200;
        int left = overQuota.getAndUpdate(refusals -> Math.max(0, refusals - 1));
        return left > 0 ? 429 : 200;
    }

    private void store(int number) {
        if (!timesStored.compareAndSet(number, 0, 1)) {
            again.incrementAndGet();
            return;
        }
        int now = stored.incrementAndGet();
        if (now % quota == 0) overQuota.set(refusedByQuota);
        if (now == timesStored.length() / 2) outage.begin();
    }

    private void answer(HttpExchange exchange, int status, int number) {
        byte[] body = ("record " + number + "\n").getBytes(StandardCharsets.UTF_8);
        try (exchange) {
            if (status == 429) exchange.getResponseHeaders().set("Retry-After", throttle.refuse(number));
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

    /** The number of requests that came before the Retry-After of the record's last answer. */
    int early() {
        return throttle.early();
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
