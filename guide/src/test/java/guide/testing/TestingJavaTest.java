package guide.testing;

import static baton.test.BatonAssertions.assertIdle;
import static baton.test.BatonAssertions.assertNoLeaks;
import static baton.test.BatonAssertions.assertWaiters;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncCircuitBreaker;
import baton.interop.AsyncRateLimiter;
import baton.interop.AsyncRetry;
import baton.interop.AsyncSchedule;
import baton.interop.AsyncSemaphore;
import baton.interop.Triggers;
import baton.resilience.BreakerState;
import baton.test.ManualClock;
import baton.test.NoLeaksExtension;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The Java of docs/testing.md. */
@Tag("any-jdk")
class TestingJavaTest {
    private final AsyncSemaphore uplink = AsyncSemaphore.create(3);

    @RegisterExtension
    final NoLeaksExtension noLeaks = new NoLeaksExtension(uplink);

    @Test
    void permit_thatIsGivenBack_isNoLeak() {
        assertNoLeaks(() -> uplink.acquire().join().close(), uplink);
        assertWaiters(0, uplink);
        assertIdle(uplink);
    }

    @Test
    void breaker_afterItsTime_probes() {
        ManualClock clock = new ManualClock();
        AsyncCircuitBreaker breaker = AsyncCircuitBreaker.builder()
                .minimumCalls(1)
                .openFor(Duration.ofSeconds(30))
                .jitter(0)
                .probes(1, Duration.ofMinutes(1))
                .clock(clock)
                .build();
        breaker.protect(() -> CompletableFuture.failedFuture(new IOException()));
        clock.advance(Duration.ofSeconds(30));
        assertEquals(BreakerState.OPEN, breaker.state()); // until the next call
        breaker.protect(() -> CompletableFuture.completedFuture("here again"));
        assertEquals(BreakerState.CLOSED, breaker.state());
    }

    @Test
    void report_runsEachHour() {
        ManualClock clock = new ManualClock();
        List<Instant> runs = new ArrayList<>();
        AsyncSchedule<String> schedule = AsyncSchedule.<String>builder(due -> {
                    runs.add(due.getAt());
                    return CompletableFuture.completedFuture(null);
                })
                .clock(clock)
                .executor(Runnable::run)
                .start();
        schedule.put("report", Triggers.every(Duration.ofHours(1), Instant.EPOCH));
        clock.advance(Duration.ofDays(30));
        assertEquals(720, runs.size());
        clock.advanceToNextDue(schedule);
        assertEquals(clock.instant(), runs.get(720));
        schedule.close();
    }

    @Test
    void permit_comesWithTheSecond() {
        ManualClock clock = new ManualClock();
        AsyncRateLimiter limiter =
                AsyncRateLimiter.builder(1, Duration.ofSeconds(1)).clock(clock).build();
        assertTrue(limiter.tryAcquire());
        CompletableFuture<Void> next = limiter.acquire();
        clock.advance(Duration.ofMillis(999));
        assertFalse(next.isDone());
        clock.advance(Duration.ofMillis(1));
        assertTrue(next.isDone());
    }

    @Test
    void attempts_followTheBackOff() {
        ManualClock clock = new ManualClock();
        AtomicInteger attempts = new AtomicInteger();
        AsyncRetry retry = AsyncRetry.builder()
                .maxAttempts(3)
                .constant(Duration.ofSeconds(10))
                .jitter(0)
                .clock(clock)
                .build();
        CompletableFuture<String> answer = retry.call(() -> {
            attempts.incrementAndGet();
            return CompletableFuture.failedFuture(new IOException());
        });
        assertEquals(1, attempts.get());
        clock.advance(Duration.ofSeconds(10));
        assertEquals(2, attempts.get());
        clock.advance(Duration.ofSeconds(10));
        assertEquals(3, attempts.get());
        assertTrue(answer.isCompletedExceptionally());
    }

    @Test
    void thread_cannotWaitForAManualClock() throws Exception {
        ManualClock clock = new ManualClock();
        AsyncRateLimiter limiter =
                AsyncRateLimiter.builder(1, Duration.ofSeconds(1)).clock(clock).build();
        assertTrue(limiter.tryAcquire());
        assertThrows(IllegalStateException.class, () -> limiter.blocking().acquire());
        AsyncRetry retry = AsyncRetry.builder().clock(clock).build();
        assertThrows(IllegalStateException.class, () -> retry.blocking().call(() -> "never called"));
        AsyncCircuitBreaker breaker = AsyncCircuitBreaker.builder().clock(clock).build();
        assertEquals("called", breaker.blocking().call(() -> "called"));
    }
}
