package samples.support.uptime;

import baton.interop.AsyncSchedule;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.BindException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.function.Supplier;
import samples.support.LoopbackServer;
import samples.support.TextFile;

/**
 * The page of the uptime monitor, on a loopback port: {@code /} is the page, {@code /status} all of its contents as JSON,
 * {@code /events} the same and then the changes twice a second, as server-sent events. {@code /pause}, {@code /resume}
 * and {@code /check} act on the endpoint that the parameter {@code name} names, by POST. {@code /metrics} is for
 * Prometheus.
 */
public final class MonitorPage implements AutoCloseable {
    private static final int MILLIS = 500;
    private static final String NAME = "name=";

    /** Each open page has a thread for its events. A client that is slow to send or to read holds one for a while only. */
    static final int THREADS = EventStream.MAX_READERS + 16;

    /** For the whole answer, but for the events. */
    private static final Duration LIMIT = Duration.ofSeconds(10);

    private final HttpServer http;
    private final MonitorReport report;
    private final PageGuard guard;
    private final PageFile page = PageFile.read("uptime.html");
    private final EventStream events = new EventStream();
    private final ThreadPoolExecutor requests = new ThreadPoolExecutor(
            THREADS, THREADS, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), MonitorPage::daemon);
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(MonitorPage::daemon);

    private MonitorPage(HttpServer http, MonitorReport report) {
        this.http = http;
        this.report = report;
        guard = new PageGuard(http.getAddress().getPort());
        requests.allowCoreThreadTimeOut(true);
        http.setExecutor(requests);
    }

    /** Takes the port, or a free one if it is 0; requests are answered from {@link #serve} on. */
    static MonitorPage open(int port, MonitorReport report) throws IOException {
        try {
            return new MonitorPage(LoopbackServer.create(port), report);
        } catch (BindException taken) {
            throw new IOException("port " + port + ": " + taken.getMessage(), taken);
        }
    }

    private static Thread daemon(Runnable work) {
        Thread thread = new Thread(work, "page");
        thread.setDaemon(true);
        return thread;
    }

    /**
     * Begins to answer requests, with the state of {@code schedule}.
     *
     * @param metrics the text for Prometheus, null for none
     */
    public void serve(AsyncSchedule<String> schedule, Supplier<String> metrics) {
        PageState state = new PageState(report, schedule);
        http.createContext("/", exchange -> {
            try (Deadline deadline = new Deadline(timer, LIMIT);
                    exchange) {
                handle(exchange, deadline, state, schedule, metrics);
            } catch (IOException gone) {
                // The client has closed the connection, or was dropped.
            }
        });
        timer.scheduleAtFixedRate(() -> look(state), 0, MILLIS, TimeUnit.MILLISECONDS);
        http.start();
        report.say("the page is at http://127.0.0.1:" + http.getAddress().getPort() + "/");
    }

    private void look(PageState state) {
        synchronized (events) {
            events.publish("tick", state.look());
        }
    }

    private void handle(
            HttpExchange exchange,
            Deadline deadline,
            PageState state,
            AsyncSchedule<String> schedule,
            Supplier<String> metrics)
            throws IOException {
        var headers = exchange.getResponseHeaders();
        headers.set("Cache-Control", "no-store");
        headers.set("X-Content-Type-Options", "nosniff");
        var refusal = guard.refusal(exchange.getRequestHeaders());
        if (refusal.isPresent()) {
            answer(exchange, 403, refusal.get());
            return;
        }
        switch (exchange.getRequestURI().getPath()) {
            case "/" ->
                get(exchange, () -> {
                    headers.set("Content-Security-Policy", page.policy());
                    answer(exchange, "text/html; charset=utf-8", page.bytes());
                });
            case "/status" -> get(exchange, () -> answer(exchange, "application/json", bytes(present(state))));
            case "/events" -> get(exchange, () -> stream(exchange, deadline, state));
            case "/pause" -> post(exchange, state, name -> pause(schedule, name, true));
            case "/resume" -> post(exchange, state, name -> pause(schedule, name, false));
            case "/check" -> post(exchange, state, schedule::triggerNow);
            case "/metrics" -> get(exchange, () -> metrics(exchange, metrics));
            default -> answer(exchange, 404, "there is no such page");
        }
    }

    private static void metrics(HttpExchange exchange, Supplier<String> metrics) throws IOException {
        if (metrics == null) answer(exchange, 404, "the monitor was started without --metrics");
        else answer(exchange, "text/plain; version=0.0.4; charset=utf-8", bytes(metrics.get()));
    }

    private boolean pause(AsyncSchedule<String> schedule, String name, boolean isPaused) {
        boolean isThere = isPaused ? schedule.pause(name) : schedule.resume(name);
        if (isThere) report.paused(name, isPaused);
        return isThere;
    }

    private String present(PageState state) {
        synchronized (events) {
            return state.present();
        }
    }

    @FunctionalInterface
    private interface Answer {
        void send() throws IOException;
    }

    private void get(HttpExchange exchange, Answer answer) throws IOException {
        if (isAllowed(exchange, "GET")) answer.send();
    }

    private void post(HttpExchange exchange, PageState state, Predicate<String> action) throws IOException {
        if (!isAllowed(exchange, "POST")) return;
        String query = exchange.getRequestURI().getRawQuery();
        if (query == null || !query.startsWith(NAME)) {
            answer(exchange, 400, "the parameter name is missing");
            return;
        }
        try {
            String name = URLDecoder.decode(query.substring(NAME.length()), StandardCharsets.UTF_8);
            if (!action.test(name)) {
                answer(exchange, 404, "there is no endpoint '" + TextFile.shown(name) + "'");
                return;
            }
        } catch (IllegalArgumentException malformed) {
            answer(exchange, 400, "the name is not encoded as it should be");
            return;
        } catch (IllegalStateException ended) {
            answer(exchange, 503, "the monitor has ended");
            return;
        }
        synchronized (events) {
            events.publish("tick", state.changes());
        }
        exchange.sendResponseHeaders(204, -1);
    }

    private static boolean isAllowed(HttpExchange exchange, String method) throws IOException {
        if (exchange.getRequestMethod().equals(method)) return true;
        exchange.getResponseHeaders().set("Allow", method);
        answer(exchange, 405, "only " + method + " is allowed here");
        return false;
    }

    private void stream(HttpExchange exchange, Deadline deadline, PageState state) throws IOException {
        if (events.readers() >= EventStream.MAX_READERS) {
            answer(exchange, 503, "too many pages are open");
            return;
        }
        exchange.getResponseHeaders().set("Content-Type", "text/event-stream");
        exchange.sendResponseHeaders(200, 0);
        deadline.close();
        events.write(exchange.getResponseBody(), "all", state::latest);
    }

    private static void answer(HttpExchange exchange, int status, String line) throws IOException {
        exchange.getResponseHeaders().set("Content-Type", "text/plain; charset=utf-8");
        byte[] body = bytes(line + "\n");
        if (exchange.getRequestMethod().equals("HEAD")) {
            exchange.sendResponseHeaders(status, -1);
            return;
        }
        exchange.sendResponseHeaders(status, body.length);
        exchange.getResponseBody().write(body);
    }

    private static void answer(HttpExchange exchange, String type, byte[] body) throws IOException {
        exchange.getResponseHeaders().set("Content-Type", type);
        exchange.sendResponseHeaders(200, body.length);
        exchange.getResponseBody().write(body);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
        events.close();
        http.stop(0);
        requests.shutdownNow();
        timer.shutdownNow();
    }
}
