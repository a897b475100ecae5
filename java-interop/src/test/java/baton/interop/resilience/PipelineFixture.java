package baton.interop.resilience;

import static baton.interop.Futures.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import baton.interop.AsyncCircuitBreaker;
import baton.interop.AsyncPipeline;
import baton.interop.AsyncRateLimiter;
import baton.interop.AsyncRetry;
import baton.interop.AsyncSemaphore;
import java.time.Duration;

/** A pipeline of a breaker, a limiter of ten tokens and a semaphore of two permits. */
abstract class PipelineFixture {
    static final Duration LONG = Duration.ofMinutes(2);

    final AsyncCircuitBreaker breaker = AsyncCircuitBreaker.create("api");
    final AsyncRateLimiter limiter =
            AsyncRateLimiter.builder(1, Duration.ofDays(1)).burst(10).build();
    final AsyncSemaphore semaphore = AsyncSemaphore.create(2);

    final AsyncPipeline.Builder full() {
        return AsyncPipeline.builder("billing")
                .breaker(breaker)
                .limiter(limiter)
                .semaphore(semaphore);
    }

    final AsyncPipeline.Builder retrying() {
        return full().retry(
                        AsyncRetry.builder().constant(Duration.ZERO).jitter(0).build());
    }

    final void assertNothingHeld(int tokens, int calls) {
        assertEquals(2, semaphore.availablePermits());
        assertEquals(0, semaphore.waiting());
        assertEquals(10 - tokens, limiter.availablePermits());
        assertEquals(calls, breaker.metrics().getCalls());
    }

    final void awaitFree() {
        await(semaphore.awaitIdle());
    }
}
