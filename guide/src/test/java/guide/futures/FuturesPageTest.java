package guide.futures;

import static java.net.http.HttpResponse.BodyHandlers.ofString;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.Refusal;
import baton.interop.AsyncCircuitBreaker;
import baton.interop.AsyncMutex;
import baton.interop.AsyncSemaphore;
import baton.interop.CancellableFuture;
import baton.interop.Permit;
import baton.interop.Select;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The code of docs/java-futures.md, with a server of the JDK. */
class FuturesPageTest {
    private HttpServer server;

    @BeforeEach
    void startServer() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            exchange.sendResponseHeaders(200, 2);
            exchange.getResponseBody().write("ok".getBytes());
            exchange.close();
        });
        server.start();
    }

    @AfterEach
    void stopServer() {
        server.stop(0);
        pool.shutdownNow();
    }

    private final ExecutorService pool = Executors.newCachedThreadPool();
    private final HttpClient client = HttpClient.newHttpClient();

    private HttpRequest request(String path) {
        return HttpRequest.newBuilder(
                        URI.create("http://localhost:" + server.getAddress().getPort() + path))
                .build();
    }

    private final AsyncSemaphore atMostFive = AsyncSemaphore.create(5, "uplink");

    CompletableFuture<String> fetch(String path) {
        return atMostFive.withPermit(
                () -> client.sendAsync(request(path), ofString()).thenApply(HttpResponse::body));
    }

    @Test
    void permit_isHeldUntilTheStageEnds() {
        assertEquals("ok", fetch("/").join());
        assertEquals(5, atMostFive.availablePermits());
    }

    @Test
    void cancel_withdrawsTheRequest() {
        Permit all = atMostFive.acquire(5).join();
        CompletableFuture<Permit> request = atMostFive.acquire();
        request.cancel(true); // or complete it, or let orTimeout expire: the request is withdrawn
        assertEquals(0, atMostFive.waiting());
        CompletableFuture<Permit> limited = atMostFive.acquire(1).orTimeout(10, MILLISECONDS);
        assertThrows(CompletionException.class, limited::join);
        all.close();
        assertEquals(5, atMostFive.availablePermits());
    }

    @Test
    void callbacks_runOnAnExecutor() {
        Permit all = atMostFive.acquire(5).join();
        CompletableFuture<Permit> granted = atMostFive.acquire(1, pool); // its dependents run on the pool
        CompletableFuture<Void> done = granted.thenAccept(Permit::close);
        all.close();
        done.join();
    }

    private final AsyncCircuitBreaker breaker = AsyncCircuitBreaker.create("upstream");

    CompletableFuture<String> fetchGuarded(String path) {
        return breaker.protect(
                () -> atMostFive.withPermit( // no permit within 100 ms: a Refusal, the breaker counts nothing
                        () -> send(path).orTimeout(2, SECONDS), // no response within 2 s: a failure of the service
                        Duration.ofMillis(100)));
    }

    Optional<String> fetchIfAdmitted(String path) {
        try {
            return Optional.of(fetchGuarded(path).join());
        } catch (CompletionException e) { // join wraps every failure but a cancellation
            if (e.getCause() instanceof Refusal) return Optional.empty();
            throw e;
        }
    }

    private CompletableFuture<String> send(String path) {
        return client.sendAsync(request(path), ofString()).thenApply(HttpResponse::body);
    }

    @Test
    void refusal_isNoFailure() {
        Permit all = atMostFive.acquire(5).join();
        assertEquals(Optional.empty(), fetchIfAdmitted("/"));
        all.close();
        assertEquals(Optional.of("ok"), fetchIfAdmitted("/"));
    }

    @Test
    void cancel_ofTheLastStage_reachesTheWork() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CompletableFuture<String> aborted = new CompletableFuture<>();
        CancellableFuture<String> page = CancellableFuture.supply(pool, token -> {
            token.onCancel(() -> aborted.complete("aborted"));
            begun.countDown();
            return aborted.join();
        });
        CancellableFuture<Integer> length = page.thenApply(String::length);
        begun.await();
        length.cancel(true); // no other stage wants the page: its work is cancelled
        assertEquals("aborted", aborted.join());
        assertTrue(page.isCancelled());
    }

    @Test
    void select_getsTheFirstOfSeveral() {
        AsyncMutex mutex = AsyncMutex.create();
        CompletableFuture<String> winner = Select.<String>first()
                .onLock(mutex, permit -> {
                    try (permit) {
                        return "locked";
                    }
                })
                .onTimeout(Duration.ofMillis(50), () -> "late")
                .start();
        assertEquals("locked", winner.join());
    }

    @Test
    void permit_ofAFuture_isClosed() throws Exception {
        String body = atMostFive
                .acquire()
                .thenCompose(permit -> send("/").whenComplete((text, e) -> permit.close()))
                .get(10, SECONDS);
        assertInstanceOf(String.class, body);
        assertEquals(5, atMostFive.availablePermits());
    }
}
