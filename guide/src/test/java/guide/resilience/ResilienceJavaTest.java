package guide.resilience;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.PermitTimeoutException;
import baton.Refusal;
import baton.interop.AsyncCircuitBreaker;
import baton.interop.AsyncPipeline;
import baton.interop.AsyncRateLimiter;
import baton.interop.AsyncRetry;
import baton.interop.AsyncSemaphore;
import baton.test.ManualClock;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.sql.SQLTransientException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The Java code of docs/resilience.md. */
class ResilienceJavaTest {
    private final String url = "/page";
    private final AtomicInteger requests = new AtomicInteger();
    private final List<String> lines = new CopyOnWriteArrayList<>();
    private HttpServer server;

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            boolean isFirst = requests.incrementAndGet() == 1;
            byte[] body = "page".getBytes();
            if (isFirst) exchange.getResponseHeaders().add("Retry-After", "0");
            exchange.sendResponseHeaders(isFirst ? 503 : 200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    private HttpRequest request() {
        URI uri = URI.create("http://localhost:" + server.getAddress().getPort() + "/");
        return HttpRequest.newBuilder(uri).build();
    }

    /** Fails the first time. */
    private CompletableFuture<String> fetch(String url) {
        if (requests.incrementAndGet() == 1) return CompletableFuture.failedFuture(new IOException("down"));
        return CompletableFuture.completedFuture("page of " + url);
    }

    private String fetchBlocking(String url) {
        return "page of " + url;
    }

    private CompletableFuture<String> load() {
        return requests.incrementAndGet() == 1 ? new CompletableFuture<>() : CompletableFuture.completedFuture("row");
    }

    @Test
    void send_bothWays_answers() throws Exception {
        BillingClient client = new BillingClient();
        assertEquals("page", client.send(request()).join());
        assertEquals("page", client.sendBlocking(request()));
    }

    @Test
    void layersByHand_failOnce_areRetried() {
        AsyncRetry retry = AsyncRetry.builder().constant(Duration.ZERO).build();
        AsyncCircuitBreaker breaker = AsyncCircuitBreaker.create("billing");
        AsyncRateLimiter limiter = AsyncRateLimiter.tokenBucket(100, Duration.ofHours(1));
        AsyncSemaphore semaphore = AsyncSemaphore.create(10);
        CompletableFuture<String> page = retry.call(() ->
                breaker.protect(() -> limiter.withPermit(() -> semaphore.withPermit(() -> fetch(url)))));
        assertEquals("page of /page", page.join());
        assertEquals(2, breaker.metrics().getCalls());
        assertEquals(98, limiter.availablePermits());
    }

    CompletableFuture<String> answer(CompletableFuture<String> call) {
        return call.exceptionally(e -> {
            Throwable cause =
                    e instanceof CompletionException ? e.getCause() : e; // if call is a stage after the guarded one
            if (!(cause instanceof Refusal refusal)) throw new CompletionException(cause);
            Duration wait = refusal.retryIn() == null ? Duration.ofSeconds(1) : refusal.retryIn();
            if (wait.compareTo(Duration.ofHours(1)) > 0) wait = Duration.ofHours(1); // a breaker is forced open
            return "503, Retry-After: " + wait.plusNanos(999_999_999).toSeconds(); // rounded up
        });
    }

    @Test
    void answer_refusal_namesTheTime_roundedUp() {
        assertEquals("page", answer(CompletableFuture.completedFuture("page")).join());
        CompletableFuture<String> busy = CompletableFuture.failedFuture(new PermitTimeoutException("busy"));
        assertEquals("503, Retry-After: 1", answer(busy.thenApply(page -> page)).join());
        AsyncCircuitBreaker forced = AsyncCircuitBreaker.create("billing");
        forced.trip();
        assertEquals(
                "503, Retry-After: 3600",
                answer(forced.protect(() -> fetch(url))).join());
        AsyncRateLimiter limiter = AsyncRateLimiter.builder(1, Duration.ofMillis(90_001))
                .clock(new ManualClock())
                .build();
        assertTrue(limiter.tryAcquire());
        assertEquals(
                "503, Retry-After: 91",
                answer(limiter.withPermit(() -> fetch(url), Duration.ZERO)).join());
        CompletableFuture<String> failed = CompletableFuture.failedFuture(new IOException("down"));
        assertThrows(CompletionException.class, () -> answer(failed).join());
    }

    Optional<String> ifAdmitted(CompletableFuture<String> call) {
        try {
            return Optional.of(call.join());
        } catch (CompletionException e) { // join wraps every failure but a cancellation
            if (e.getCause() instanceof Refusal) return Optional.empty();
            throw e;
        }
    }

    @Test
    void ifAdmitted_refusal_isEmpty() {
        assertEquals(Optional.of("page"), ifAdmitted(CompletableFuture.completedFuture("page")));
        CompletableFuture<String> refused = CompletableFuture.failedFuture(new PermitTimeoutException("busy"));
        assertEquals(Optional.empty(), ifAdmitted(refused));
        CompletableFuture<String> failed = CompletableFuture.failedFuture(new IOException("down"));
        assertThrows(CompletionException.class, () -> ifAdmitted(failed));
    }

    @Test
    void timeLimits_ofPermitAndCallee_areARefusalAndAFailure() {
        AsyncCircuitBreaker breaker = AsyncCircuitBreaker.create("billing");
        AsyncSemaphore semaphore = AsyncSemaphore.create(1);
        requests.set(1);
        CompletableFuture<String> page = breaker.protect(() -> semaphore.withPermit(
                () -> fetch(url).orTimeout(2, SECONDS), // no answer within 2 s: a failure of the service
                Duration.ofMillis(100))); // no permit within 100 ms: a Refusal, the breaker counts nothing
        assertEquals("page of /page", page.join());
        semaphore.acquire().join();
        CompletableFuture<String> refused =
                breaker.protect(() -> semaphore.withPermit(() -> fetch(url), Duration.ofMillis(1)));
        assertEquals(Optional.empty(), ifAdmitted(refused));
        assertEquals(1, breaker.metrics().getCalls());
    }

    @Test
    void retry_failOnce_isRepeated() throws Exception {
        AsyncRetry retry = AsyncRetry.builder()
                .maxAttempts(5)
                .exponential(Duration.ofMillis(200), Duration.ofSeconds(30))
                .retryIf(failure -> failure instanceof IOException || failure instanceof SQLTransientException)
                .budget(0.2, 10)
                .build();
        CompletableFuture<String> body = retry.call(() -> fetch(url));
        String text = retry.blocking().call(() -> fetchBlocking(url));
        assertEquals("page of /page", body.join());
        assertEquals("page of /page", text);
        assertEquals(2, requests.get());
    }

    @Test
    void retryAfter_ofAResponse_isRead() {
        AsyncRetry retry = AsyncRetry.builder().constant(Duration.ZERO).build();
        HttpClient client = HttpClient.newHttpClient();
        HttpRequest request = request();
        CompletableFuture<HttpResponse<String>> answer = retry.call(
                () -> client.sendAsync(request, BodyHandlers.ofString()),
                response -> response.statusCode() == 429 || response.statusCode() == 503,
                response -> AsyncRetry.parseRetryAfter(response.headers().firstValue("Retry-After")));
        assertEquals(200, answer.join().statusCode());
        assertEquals(2, requests.get());
    }

    @Test
    void breaker_ofThePage_countsACall() {
        AsyncCircuitBreaker breaker = AsyncCircuitBreaker.builder()
                .window(Duration.ofSeconds(10))
                .minimumCalls(20)
                .slow(Duration.ofSeconds(2), 0.8)
                .openFor(Duration.ofSeconds(5), Duration.ofMinutes(5))
                .name("billing")
                .build();
        CompletableFuture<String> page = breaker.protect(() -> fetch(url));
        assertThrows(CompletionException.class, page::join);
        assertEquals(1.0, breaker.metrics().getFailureRate());
    }

    @Test
    void breaker_openForMaintenance_reportsItsChanges() {
        AsyncCircuitBreaker breaker = AsyncCircuitBreaker.create("billing");
        breaker.onChange((from, to) -> log(from + " -> " + to));
        breaker.openFor(Duration.ofMinutes(1)); // maintenance
        assertEquals(List.of("CLOSED -> OPEN"), lines);
    }

    @Test
    void statuses_ofAClientThatDoesNotThrow_countAsFailures() {
        AsyncCircuitBreaker breaker = AsyncCircuitBreaker.builder()
                .failureResult(result -> result instanceof HttpResponse<?> response && response.statusCode() >= 500)
                .ignoreIf(failure -> failure instanceof IllegalArgumentException) // a mistake of the caller
                .build();
        for (int status : new int[] {500, 404}) {
            breaker.protect(() -> CompletableFuture.completedFuture(new StatusOnly(status)))
                    .join();
        }
        CompletableFuture<String> wrong =
                breaker.protect(() -> CompletableFuture.failedFuture(new IllegalArgumentException()));
        assertThrows(CompletionException.class, wrong::join);
        assertEquals(2, breaker.metrics().getCalls());
        assertEquals(0.5, breaker.metrics().getFailureRate());
    }

    @Test
    void hedge_firstAttemptIsSilent_secondWins() {
        AsyncPipeline reads =
                AsyncPipeline.builder("reads").hedge(Duration.ofMillis(200), 2).build();
        CompletableFuture<String> row = reads.call(() -> load());
        assertEquals("row", row.join());
        assertEquals(2, requests.get());
    }

    @Test
    void onCall_aSuccess_isReported() {
        AsyncPipeline upstream = AsyncPipeline.builder("billing").build();
        upstream.onCall(event -> log(event.getOutcome() + " after " + event.duration()));
        upstream.call(() -> CompletableFuture.completedFuture("page")).join();
        assertEquals(1, lines.size());
        assertTrue(lines.get(0).startsWith("SUCCESS after PT"), lines.get(0));
    }

    @Test
    void metrics_afterAFailure_areOneLine() {
        AsyncCircuitBreaker breaker = AsyncCircuitBreaker.create("billing");
        breaker.protect(() -> CompletableFuture.failedFuture(new IOException("down")));
        log(breaker.metrics().toString()); // calls = 1, failureRate = 1.0, slowRate = 0.0, rejected = 0
        assertEquals(List.of("calls = 1, failureRate = 1.0, slowRate = 0.0, rejected = 0"), lines);
    }

    private void log(String line) {
        lines.add(line);
    }
}
