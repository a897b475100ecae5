package guide.migrating;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.Priority;
import baton.interop.AsyncCircuitBreaker;
import baton.interop.AsyncCircuitBreakers;
import baton.interop.AsyncMutexes;
import baton.interop.AsyncPipeline;
import baton.interop.AsyncRateLimiter;
import baton.interop.AsyncRateLimiters;
import baton.interop.AsyncRetry;
import baton.interop.AsyncSchedule;
import baton.interop.AsyncSemaphore;
import baton.interop.AsyncSingleFlight;
import baton.interop.AsyncTaskScheduler;
import baton.interop.TaskOptions;
import baton.interop.Triggers;
import baton.resilience.BreakerState;
import java.nio.charset.StandardCharsets;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalTime;
import java.time.ZoneId;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The Java code of docs/MIGRATING.md about resilience4j, Failsafe, Polly, bucket4j, db-scheduler, Quartz, Go and p-queue. */
@Timeout(300)
class MigratingProductionTest {
    private static final String CACHED = "cached";

    private static String load() {
        return "loaded";
    }

    private static CompletableFuture<String> call() {
        return CompletableFuture.completedFuture("called");
    }

    @Test
    void table_outcomes() throws Exception {
        AsyncCircuitBreaker breaker = AsyncCircuitBreaker.builder()
                .ignoreIf(IllegalArgumentException.class::isInstance)
                .failureResult(result -> "503".equals(result))
                .probes(5, Duration.ofSeconds(30))
                .failuresToOpen(3)
                .build();
        AutoCloseable listening = breaker.onCall(event -> assertEquals(1, event.getAttempts()));
        assertEquals("called", breaker.protect(() -> call()).join());
        listening.close();
        breaker.openFor(Duration.ofMinutes(5));
        assertEquals(BreakerState.OPEN, breaker.state());
        AsyncRetry retry = AsyncRetry.builder().maxAttempts(3).failAfterLast().build();
        AsyncRetry longer = retry.toBuilder().maxAttempts(10).build();
        assertEquals("called", longer.call(() -> call()).join());
    }

    @Test
    void table_layers() throws Exception {
        AsyncRetry policy = AsyncRetry.builder().maxAttempts(3).build();
        AsyncCircuitBreaker breaker = AsyncCircuitBreaker.create("billing");
        AsyncSemaphore semaphore = AsyncSemaphore.create(10);
        AsyncPipeline upstream = AsyncPipeline.builder("billing")
                .retry(policy)
                .breaker(breaker)
                .semaphore(semaphore)
                .hedge(Duration.ofMillis(200), 2)
                .maxWait(Duration.ofMillis(200))
                .attemptTimeout(Duration.ofSeconds(2))
                .build();
        assertEquals("called", upstream.call(() -> call()).join());
        assertEquals(
                "called",
                upstream.call(() -> call(), e -> CompletableFuture.completedFuture(CACHED))
                        .join());
        assertEquals("loaded", upstream.blocking().call(() -> load()));
    }

    @Test
    void table_limits() throws Exception {
        AsyncRateLimiter limiter = AsyncRateLimiter.builder(10, Duration.ofSeconds(1))
                .and(1_000, Duration.ofHours(1))
                .burst(20)
                .build();
        assertTrue(limiter.tryAcquire());
        assertTrue(limiter.tryReserve(2, Duration.ofMillis(50)).isPresent());
        assertEquals(3, limiter.metrics().getGranted());
        AsyncSemaphore backend = AsyncSemaphore.create(25, "backend");
        assertTrue(backend.blocking().tryAcquire(2, Duration.ofMillis(50)).isPresent());
        assertTrue(backend.blocking().drain().isPresent());
    }

    @Test
    void table_byKey() {
        AsyncRateLimiters<String> perCustomer =
                AsyncRateLimiters.create(AsyncRateLimiter.builder(10, Duration.ofSeconds(1)));
        assertEquals("called", perCustomer.withPermit("c1", () -> call()).join());
        AsyncMutexes<String> locks = AsyncMutexes.create();
        assertEquals("called", locks.withLock("a", () -> call()).join());
        assertEquals("called", locks.withLocks(List.of("a", "b"), () -> call()).join());
        AsyncCircuitBreakers<String> perHost =
                AsyncCircuitBreakers.create(AsyncCircuitBreaker.builder(), Duration.ofHours(1));
        assertEquals("called", perHost.protect("example.org", () -> call()).join());
        AsyncSingleFlight<String, String> flight = AsyncSingleFlight.create();
        assertEquals("called", flight.run("key", () -> call()).join());
        flight.forget("key");
    }

    @Test
    void table_runs() {
        byte[] data = "payload".getBytes(StandardCharsets.UTF_8);
        ZoneId zone = ZoneId.of("Europe/Berlin");
        try (AsyncSchedule<String> jobs = AsyncSchedule.<String>blockingBuilder(due -> load())
                .runTimeout(key -> Duration.ofMinutes(5))
                .start()) {
            assertTrue(jobs.putIfAbsent("once", Triggers.at(Instant.now().plusSeconds(3_600)), Priority.NORMAL, data));
            jobs.put("report", Triggers.daily(LocalTime.of(6, 30), zone));
            jobs.put("backup", Triggers.weekly(EnumSet.of(DayOfWeek.SUNDAY), LocalTime.of(2, 30), zone));
            assertEquals(3, jobs.entries(1_000).size());
            assertEquals(0, jobs.cancelRun("report"));
            jobs.pauseAll();
            jobs.resumeAll();
            assertFalse(jobs.isPaused());
        }
    }

    @Test
    void table_queues() {
        AsyncTaskScheduler queue = AsyncTaskScheduler.create(4);
        TaskOptions options = TaskOptions.of(Priority.NORMAL).withTimeout(Duration.ofSeconds(30));
        assertEquals("called", queue.schedule(options, () -> call()).join());
        queue.awaitIdle().join();
        queue.clear();
        assertTrue(queue.close(Duration.ofSeconds(10)));
    }
}
