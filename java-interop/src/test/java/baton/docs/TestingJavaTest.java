package baton.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncCircuitBreaker;
import baton.interop.AsyncRateLimiter;
import baton.interop.AsyncRetry;
import baton.test.ManualClock;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The Java of docs/testing.md. */
@Tag("any-jdk")
class TestingJavaTest {
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
