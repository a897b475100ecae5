package guide.readme;

import static java.util.concurrent.CompletableFuture.completedFuture;
import static java.util.concurrent.CompletableFuture.failedFuture;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import baton.PermitTimeoutException;
import baton.interop.AsyncChannel;
import baton.interop.AsyncCircuitBreaker;
import baton.interop.AsyncPipeline;
import baton.interop.AsyncRateLimiter;
import baton.interop.AsyncRateLimiters;
import baton.interop.AsyncRetry;
import baton.interop.AsyncSchedule;
import baton.interop.AsyncSemaphore;
import baton.interop.Permit;
import baton.interop.ScheduleStores;
import baton.interop.Select;
import baton.interop.Tasks;
import baton.interop.Triggers;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalTime;
import java.time.ZoneId;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The Java code of README.md, which {@code MarkdownTest} compares. */
class ReadmeJavaTest {
    private static final class Client {
        private int failures;

        CompletableFuture<String> getAsync(String path) {
            return --failures >= 0 ? failedFuture(new IOException("down")) : completedFuture("page of " + path);
        }

        String get(String path) {
            return "page of " + path;
        }
    }

    private final Client client = new Client();

    AsyncSemaphore uplink = AsyncSemaphore.create(5, "uplink");

    CompletableFuture<String> fetch(String path) { // fails with PermitTimeoutException if no permit is free in time
        return uplink.withPermit(() -> client.getAsync(path), Duration.ofMillis(100));
    }

    String fetchBlocking(String path)
            throws Exception { // a thread parks in the same queue, a virtual one leaves its carrier
        return uplink.blocking().call(Duration.ofMillis(100), () -> client.get(path));
    }

    @Test
    void semaphore_whosePermitsAreTaken_refusesInTime() throws Exception {
        assertEquals("page of /a", fetch("/a").join());
        assertEquals("page of /a", fetchBlocking("/a"));
        Permit taken = uplink.acquire(5).join();
        CompletableFuture<String> late = fetch("/b");
        assertThrows(PermitTimeoutException.class, () -> fetchBlocking("/b"));
        assertEquals(
                PermitTimeoutException.class, late.handle((page, e) -> e).join().getClass());
        taken.close();
        assertEquals(5, uplink.availablePermits());
    }

    AsyncRateLimiters<String> perCustomer = AsyncRateLimiters.create(
            AsyncRateLimiter.builder(10, Duration.ofSeconds(1)).burst(20));

    CompletableFuture<String> fetchFor(String customer, String path) {
        return perCustomer.withPermit(customer, () -> client.getAsync(path));
    }

    @Test
    void limiter_ofOneCustomer_doesNotSlowTheOther() {
        for (int i = 0; i < 20; i++) fetchFor("a", "/a").join();
        CompletableFuture<String> late = fetchFor("a", "/a");
        assertEquals("page of /b", fetchFor("b", "/b").join());
        assertEquals("page of /a", late.join());
    }

    AsyncPipeline billing = AsyncPipeline.builder("billing")
            .retry(AsyncRetry.builder().maxAttempts(3).build())
            .breaker(AsyncCircuitBreaker.create("billing"))
            .limiter(AsyncRateLimiter.tokenBucket(100, Duration.ofSeconds(1)))
            .semaphore(AsyncSemaphore.create(10))
            .attemptTimeout(Duration.ofSeconds(2))
            .build();

    CompletableFuture<String> invoice(String id) {
        return billing.call(
                () -> client.getAsync("/invoices/" + id), e -> completedFuture("no invoice now: " + e.getMessage()));
    }

    @Test
    void pipeline_retriesAndFallsBack() {
        client.failures = 2;
        assertEquals("page of /invoices/7", invoice("7").join());
        client.failures = 3;
        assertEquals("no invoice now: down", invoice("7").join());
    }

    CompletableFuture<List<String>> fetchAll(List<String> paths) {
        return Tasks.mapLimit(paths, 5, client::getAsync);
    }

    List<String> fetchAllBlocking(List<String> paths) throws Exception { // on virtual threads, where there are some
        return Tasks.blocking().mapLimit(paths, 5, client::get);
    }

    @Test
    void map_bounded_keepsTheOrder() throws Exception {
        List<String> pages = List.of("page of /a", "page of /b");
        assertEquals(pages, fetchAll(List.of("/a", "/b")).join());
        assertEquals(pages, fetchAllBlocking(List.of("/a", "/b")));
    }

    AsyncChannel<String> urgent = AsyncChannel.create(64);
    AsyncChannel<String> ordinary = AsyncChannel.create(64);

    CompletableFuture<Optional<String>> nextJob() {
        return Select.<Optional<String>>first()
                .onReceive(urgent, Optional::of)
                .onReceive(ordinary, Optional::of)
                .onTimeout(Duration.ofSeconds(1), Optional::empty)
                .start();
    }

    @Test
    void select_takesTheFirst_andLosesNothing() {
        CompletableFuture<Optional<String>> waiting = nextJob();
        ordinary.send("report").join();
        urgent.send("alarm").join();
        assertEquals("report", waiting.join().orElseThrow());
        assertEquals("alarm", nextJob().join().orElseThrow());
        assertFalse(nextJob().join().isPresent());
    }

    AsyncSchedule<String> startReports(Path file) {
        AsyncSchedule<String> schedule = AsyncSchedule.<String>blockingBuilder(due -> send(due.getKey()))
                .store(ScheduleStores.journal(file))
                .name("reports")
                .start();
        schedule.put("daily", Triggers.daily(LocalTime.of(9, 0), ZoneId.of("Europe/Berlin")));
        schedule.put("health", Triggers.every(Duration.ofSeconds(30)));
        return schedule;
    }

    private final CompletableFuture<String> sent = new CompletableFuture<>();

    private void send(String report) {
        sent.complete(report);
    }

    @Test
    void schedule_runsItsEntries(@TempDir Path folder) {
        AsyncSchedule<String> schedule = startReports(folder.resolve("reports.journal"));
        schedule.triggerNow("health");
        assertEquals("health", sent.join());
        assertEquals(2, schedule.size());
        schedule.close();
    }
}
