package samples.support.uptime;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import samples.support.LoopbackServer;
import samples.support.Outage;

/**
 * The hosts under {@code .demo}, each on a free loopback port of its own. The first word of a host's name is its kind:
 * {@code fast-1.demo} is {@link Kind#FAST}. The server records when its hosts go down and come back.
 */
public final class DemoServer implements AutoCloseable {
    private static final String DOMAIN = ".demo";
    private static final int BACKLOG = 1024;

    /** One of so many requests for a path fails, or two in a row. */
    private static final int FLAKY_EVERY = 20;

    /** The outage lasts for this share of the run, and begins as long after the first request for its host. */
    private static final double OUTAGE_SHARE = 0.3;

    /** The behaviour of a host. */
    enum Kind {
        /** Answers at once. */
        FAST,
        /** Answers after some tenths of a second. */
        SLOW,
        /** Answers 503 once in a while: once, which a retry mends, or twice, which makes a check fail. */
        FLAKY,
        /** Never answers. */
        HANGING,
        /** Refuses connections. */
        DEAD,
        /** Answers 503 during the outage. */
        OUTAGE
    }

    private final Map<String, AutoCloseable> sockets = new ConcurrentHashMap<>();
    private final Map<String, Integer> ports = new ConcurrentHashMap<>();
    private final Map<String, AtomicInteger> requests = new ConcurrentHashMap<>();
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
    private final long outageMillis;
    private final Outage outage;

    private DemoServer(long outageMillis) {
        this.outageMillis = outageMillis;
        outage = new Outage(Duration.ofMillis(outageMillis));
    }

    /** Starts a server whose outage lies within {@code run}. A host starts at the first request for it. */
    public static DemoServer start(Duration run) {
        return new DemoServer(Math.max(1, (long) (run.toMillis() * OUTAGE_SHARE)));
    }

    /** The kind of the host of {@code url}; null if it is no host of this server. */
    static Kind kind(URI url) {
        String host = url.getHost().toLowerCase(Locale.ROOT);
        if (!host.endsWith(DOMAIN)) return null;
        String first = host.split("[-.]")[0];
        return Stream.of(Kind.values())
                .filter(kind -> kind.name().equalsIgnoreCase(first))
                .findFirst()
                .orElse(null);
    }

    /** The real address of {@code url}: a port of this server if its host is under {@code .demo}. */
    public URI address(URI url) {
        Kind kind = kind(url);
        if (kind == null) return url;
        int port = ports.computeIfAbsent(url.getHost(), host -> open(host, kind));
        String loopback = InetAddress.getLoopbackAddress().getHostAddress();
        return URI.create("http://" + loopback + ":" + port + url.getRawPath());
    }

    private int open(String host, Kind kind) {
        try {
            if (kind == Kind.DEAD) {
                // Bound, so that no other program gets the port, but not listening.
                Socket socket = new Socket();
                sockets.put(host, socket);
                socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
                return socket.getLocalPort();
            }
            if (kind == Kind.HANGING) {
                HangingHost hanging = new HangingHost(BACKLOG);
                sockets.put(host, hanging);
                return hanging.port();
            }
            if (kind == Kind.OUTAGE) timer.schedule(outage::begin, outageMillis, TimeUnit.MILLISECONDS);
            HttpServer http = LoopbackServer.create(0, BACKLOG);
            sockets.put(host, () -> http.stop(0));
            http.createContext("/", exchange -> handle(exchange, host, kind));
            http.start();
            return http.getAddress().getPort();
        } catch (IOException failure) {
            throw new UncheckedIOException("cannot start the host " + host, failure);
        }
    }

    private void handle(HttpExchange exchange, String host, Kind kind) {
        String path = exchange.getRequestURI().getPath();
        switch (kind) {
            case SLOW -> {
                int millis = 200 + Math.floorMod(path.hashCode(), 400);
                timer.schedule(() -> answer(exchange, 200), millis, TimeUnit.MILLISECONDS);
            }
            case FLAKY -> answer(exchange, isFlaky(host, path) ? 503 : 200);
            case OUTAGE -> answer(exchange, outage.isNow() ? 503 : 200);
            case FAST, DEAD, HANGING -> answer(exchange, 200);
        }
    }

    /** Paths fail at different times, because all of them at once would be an outage of the host. */
    private boolean isFlaky(String host, String path) {
        int hash = path.hashCode();
        int request = requests.computeIfAbsent(host + path, first -> new AtomicInteger())
                .getAndIncrement();
        return Math.floorMod(request + hash, FLAKY_EVERY) <= Math.floorMod(hash, 2)
                // Not in the middle of two failures.
                && request > 0;
    }

    private static void answer(HttpExchange exchange, int status) {
        try (exchange) {
            exchange.sendResponseHeaders(status, -1);
        } catch (IOException gone) {
            // The client has closed the connection.
        }
    }

    /**
     * When {@code url} went down and came back, in turn, as seen by a client from {@code since} to {@code until}; in
     * terms of {@link System#nanoTime}. If it was down from the beginning, that is the first change.
     */
    List<Long> changes(URI url, long since, long until) {
        Kind kind = kind(url);
        if (kind == Kind.HANGING || kind == Kind.DEAD) return List.of(since);
        if (kind != Kind.OUTAGE) return List.of();
        List<Long> changes = new ArrayList<>(outage.changes());
        changes.removeIf(time -> time - until > 0);
        int before = (int) changes.stream().filter(time -> time - since <= 0).count();
        changes.subList(0, before).clear();
        if (before == 1) changes.add(0, since);
        return changes;
    }

    @Override
    public void close() {
        timer.shutdownNow();
        for (AutoCloseable socket : sockets.values()) {
            try {
                socket.close();
            } catch (Exception e) { // there is nothing else to free
                throw new IllegalStateException("cannot close a host", e);
            }
        }
    }
}
