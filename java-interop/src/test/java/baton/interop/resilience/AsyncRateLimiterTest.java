package baton.interop.resilience;

import static baton.interop.Futures.await;
import static baton.interop.Futures.awaitFailure;
import static baton.interop.Futures.failure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncRateLimiter;
import baton.interop.AsyncRateLimiters;
import baton.interop.AsyncRetry;
import baton.interop.Futures;
import baton.resilience.RateLimitedException;
import baton.resilience.RateLimiterClosedException;
import baton.resilience.RateReservation;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The futures of a rate limiter. The times and the order of grants are tested in virtual time, elsewhere. */
@Timeout(300)
class AsyncRateLimiterTest {
    private static final Duration DAY = Duration.ofDays(1);

    private static AsyncRateLimiter empty(Duration period) {
        AsyncRateLimiter limiter =
                AsyncRateLimiter.builder(1, period).name("api").build();
        assertTrue(limiter.tryAcquire());
        return limiter;
    }

    @Test
    void acquire_nothingElseHappens_isGrantedByTime() {
        AsyncRateLimiter limiter = empty(Duration.ofMillis(5));
        long start = System.nanoTime();
        List<CompletableFuture<Void>> turns = new ArrayList<>();
        for (int i = 0; i < 10; i++) turns.add(limiter.acquire());
        for (CompletableFuture<Void> turn : turns) await(turn);
        assertTrue(System.nanoTime() - start >= TimeUnit.MILLISECONDS.toNanos(45));
        assertEquals(0, limiter.waiting());
    }

    @Test
    void acquire_callbackOfTheGrantedFutureBlocks_othersAreGrantedAllTheSame() {
        AsyncRateLimiter limiter = empty(DAY);
        CompletableFuture<Void> first = limiter.acquire();
        CompletableFuture<Void> second = limiter.acquire();
        CompletableFuture<Void> blocked = first.thenRun(() -> await(second));
        limiter.update(1, Duration.ofMillis(2), 1);
        await(blocked);
    }

    @ParameterizedTest
    @ValueSource(longs = {Long.MIN_VALUE, -1, 0, 1_000})
    void timedAcquire_permitsCannotBeThereInTime_failsAtOnce(long millis) {
        AsyncRateLimiter limiter = empty(DAY);
        Duration timeout = millis == Long.MIN_VALUE ? Duration.ofSeconds(Long.MIN_VALUE) : Duration.ofMillis(millis);
        CompletableFuture<Void> late = limiter.acquire(1, timeout);
        Throwable e = assertInstanceOf(TimeoutException.class, failure(late));
        assertTrue(e.getMessage().startsWith("no permit within "), e.getMessage());
        String from = " from RateLimiter 'api' (1 per 1d, burst = 1, available = 0, waiting = 0)";
        assertTrue(e.getMessage().endsWith(from), e.getMessage());
        assertEquals(0, limiter.waiting());
    }

    @Test
    void timedAcquire_permitsComeInTime_isGranted() {
        AsyncRateLimiter limiter = empty(Duration.ofMillis(20));
        await(limiter.acquire(Duration.ofSeconds(30)));
        CompletableFuture<Void> patient = limiter.acquire(1, Duration.ofSeconds(Long.MAX_VALUE));
        await(patient);
    }

    @Test
    void cancelledOrCompletedFuture_takesNothing_andThoseBehindMoveUpAtOnce() {
        AsyncRateLimiter limiter = AsyncRateLimiter.builder(1, DAY).burst(3).build();
        assertTrue(limiter.tryAcquire());
        CompletableFuture<Void> first = limiter.acquire(3);
        CompletableFuture<Void> second = limiter.acquire(3);
        CompletableFuture<Void> third = limiter.acquire(2);
        first.complete(null);
        assertFalse(third.isDone());
        second.cancel(false);
        assertTrue(third.isDone() && !third.isCompletedExceptionally());
        assertEquals(0, limiter.availablePermits());
    }

    @Test
    void maxWaiting_reached_failsWithRetryIn() {
        AsyncRateLimiter limiter =
                AsyncRateLimiter.builder(1, DAY).maxWaiting(1).name("api").build();
        assertTrue(limiter.tryAcquire());
        CompletableFuture<Void> waits = limiter.acquire();
        RateLimitedException refused = assertInstanceOf(RateLimitedException.class, failure(limiter.acquire()));
        assertTrue(refused.retryIn().compareTo(DAY) > 0 && refused.retryIn().compareTo(DAY.multipliedBy(2)) <= 0);
        assertTrue(refused.getMessage().startsWith("1 callers wait already for RateLimiter 'api', retry in "));
        assertFalse(waits.isDone());
        AsyncRateLimiter even =
                AsyncRateLimiter.builder(1, DAY).leaky().maxWaiting(0).build();
        assertTrue(even.tryAcquire());
        assertInstanceOf(RateLimitedException.class, failure(even.withPermit(CompletableFuture::new)));
    }

    @Test
    void leakyBucket_withABurst_isRefused() {
        AsyncRateLimiter.Builder builder = AsyncRateLimiter.builder(1, DAY).burst(2);
        assertEquals(2, builder.build().availablePermits());
        IllegalStateException refused =
                assertThrows(IllegalStateException.class, () -> builder.leaky().build());
        assertEquals("burst = 2, must not be set for a leaky bucket", refused.getMessage());
    }

    @Test
    void reservation_hasItsDelayAndGivesItsPlaceBack() {
        AsyncRateLimiter limiter =
                AsyncRateLimiter.builder(1, DAY).leaky().name("even").build();
        assertEquals(Duration.ZERO, limiter.reserve().delay());
        RateReservation reservation = limiter.reserve(2);
        assertTrue(reservation.delay().compareTo(DAY) > 0, reservation::toString);
        assertTrue(reservation.delay().compareTo(DAY.multipliedBy(2)) <= 0, reservation::toString);
        assertEquals(2, reservation.getPermits());
        assertTrue(reservation.cancel());
        assertFalse(reservation.cancel());
        assertTrue(limiter.reserve().delay().compareTo(DAY) <= 0);
    }

    @Test
    void update_toAFasterRate_servesTheWaiters() {
        AsyncRateLimiter limiter = empty(DAY);
        CompletableFuture<Void> turn = limiter.acquire();
        limiter.update(1_000, Duration.ofSeconds(1));
        await(turn);
        assertTrue(limiter.toString().startsWith("AsyncRateLimiter 'api' (1000 per 1s, burst = 1000, available = "));
    }

    @Test
    void close_failsWaitingAndLaterRequests() {
        AsyncRateLimiter limiter = empty(DAY);
        IOException cause = new IOException("over");
        CompletableFuture<Void> waits = limiter.acquire();
        CompletableFuture<Integer> action = limiter.withPermit(CompletableFuture::new);
        limiter.close(cause);
        limiter.close();
        for (CompletableFuture<?> future :
                List.of(waits, action, limiter.acquire(), limiter.acquire(DAY), limiter.withPermit(() -> waits))) {
            Throwable e = assertInstanceOf(RateLimiterClosedException.class, failure(future));
            assertEquals("RateLimiter 'api' is closed", e.getMessage());
            assertSame(cause, e.getCause());
        }
        assertThrows(RateLimiterClosedException.class, limiter::tryAcquire);
        assertThrows(RateLimiterClosedException.class, limiter::reserve);
        assertThrows(RateLimiterClosedException.class, () -> limiter.update(1, DAY, 1));
    }

    @Test
    void withPermit_actionFailsOrThrows_arrivesInTheFutureAndNothingIsGivenBack() {
        AsyncRateLimiter limiter = AsyncRateLimiter.builder(1, DAY).burst(4).build();
        IOException failure = new IOException("no answer");
        assertEquals(
                1,
                limiter.withPermit(() -> CompletableFuture.completedFuture(1)).join());
        assertSame(failure, failure(limiter.withPermit(() -> CompletableFuture.failedFuture(failure))));
        IllegalStateException thrown = new IllegalStateException("in the supplier");
        Supplier<CompletionStage<String>> throwing = () -> {
            throw thrown;
        };
        assertSame(thrown, failure(limiter.withPermit(throwing)));
        assertInstanceOf(NullPointerException.class, failure(limiter.withPermit(() -> null)));
        assertEquals(0, limiter.availablePermits());
    }

    @Test
    void withPermit_onAnExecutor_runsThere() {
        AsyncRateLimiter limiter = AsyncRateLimiter.builder(1, DAY).burst(3).build();
        Futures.Steps steps = new Futures.Steps();
        CompletableFuture<String> stage = limiter.withPermit(() -> CompletableFuture.completedFuture("a"), steps);
        CompletableFuture<String> value = limiter.withPermit(() -> "b", steps);
        CompletableFuture<String> cancelled = limiter.withPermit(() -> "never", steps);
        cancelled.cancel(true);
        assertFalse(stage.isDone() || value.isDone());
        steps.runAll();
        assertEquals("a b", stage.join() + " " + value.join());
        assertEquals(0, limiter.availablePermits());
    }

    @Test
    void withPermit_cancelled_neverRunsOrCancelsTheStage() {
        AsyncRateLimiter limiter = AsyncRateLimiter.builder(1, DAY).name("api").build();
        CompletableFuture<String> stage = new CompletableFuture<>();
        CompletableFuture<String> running = limiter.withPermit(() -> stage);
        CompletableFuture<String> waiting = limiter.withPermit(() -> CompletableFuture.completedFuture("never"));
        String state = "acquire of RateLimiter 'api' (1 per 1d, burst = 1, available = 0, waiting = 1)";
        assertEquals(state, waiting.toString());
        waiting.cancel(true);
        running.cancel(true);
        assertTrue(stage.isCancelled());
        Throwable e = assertInstanceOf(CancellationException.class, failure(waiting));
        assertEquals("acquire of RateLimiter 'api' was cancelled", e.getMessage());
        assertEquals(0, limiter.waiting());
    }

    @Test
    void arguments_thatCanNeverSucceed_areRefusedAtTheCall() {
        AsyncRateLimiter.Builder builder = AsyncRateLimiter.builder(1, DAY).burst(2);
        AsyncRateLimiter limiter = builder.build();
        for (int permits : new int[] {Integer.MIN_VALUE, 0, 3, Integer.MAX_VALUE}) {
            assertThrows(IllegalArgumentException.class, () -> limiter.acquire(permits));
            assertThrows(IllegalArgumentException.class, () -> limiter.acquire(permits, DAY));
            assertThrows(IllegalArgumentException.class, () -> limiter.tryAcquire(permits));
            assertThrows(IllegalArgumentException.class, () -> limiter.reserve(permits));
        }
        for (int count : new int[] {Integer.MIN_VALUE, -1, 0}) {
            assertThrows(IllegalArgumentException.class, () -> AsyncRateLimiter.tokenBucket(count, DAY));
            assertThrows(IllegalArgumentException.class, () -> builder.burst(count));
            assertThrows(IllegalArgumentException.class, () -> AsyncRateLimiter.leakyBucket(count, DAY));
            assertThrows(IllegalArgumentException.class, () -> limiter.update(count, DAY, 1));
            assertThrows(IllegalArgumentException.class, () -> limiter.update(1, DAY, count));
        }
        assertThrows(IllegalArgumentException.class, () -> builder.maxWaiting(-1));
        for (Duration per :
                List.of(Duration.ofSeconds(Long.MIN_VALUE), Duration.ZERO, Duration.ofSeconds(Long.MAX_VALUE))) {
            assertThrows(IllegalArgumentException.class, () -> AsyncRateLimiter.tokenBucket(1, per));
            assertThrows(IllegalArgumentException.class, () -> limiter.update(1, per, 1));
        }
        assertEquals("AsyncRateLimiter (1 per 1d, burst = 2, available = 2, waiting = 0)", limiter.toString());
        // A refused value has left the builder as it was.
        assertEquals(limiter.toString(), builder.build().toString());
    }

    @Test
    void blockingView_sharesAllState() throws Exception {
        AsyncRateLimiter limiter =
                AsyncRateLimiter.builder(1, DAY).burst(4).name("api").build();
        assertTrue(limiter.blocking().tryAcquire());
        limiter.blocking().acquire();
        assertEquals("value", limiter.blocking().call(() -> "value"));
        limiter.blocking().acquire(1, Duration.ZERO);
        assertFalse(limiter.blocking().tryAcquire());
        for (Duration timeout : List.of(Duration.ZERO, Duration.ofHours(1))) {
            Throwable e = assertThrows(
                    TimeoutException.class, () -> limiter.blocking().acquire(timeout));
            assertTrue(e.getMessage().endsWith(" from " + limiter.kotlin()), e.getMessage());
        }
        assertThrows(IllegalArgumentException.class, () -> limiter.blocking().acquire(5));
        assertEquals("Blocking" + limiter.kotlin(), limiter.blocking().toString());
        assertSame(limiter.kotlin(), AsyncRateLimiter.of(limiter.kotlin()).kotlin());
    }

    @Test
    void retry_aroundALimiter_waitsForItsTurnInEveryAttempt() {
        long start = System.nanoTime();
        AsyncRateLimiter limiter = AsyncRateLimiter.leakyBucket(100, Duration.ofSeconds(1));
        AsyncRetry retry = AsyncRetry.builder()
                .maxAttempts(3)
                .constant(Duration.ofNanos(1))
                .build();
        List<Long> calls = Collections.synchronizedList(new ArrayList<>());
        CompletableFuture<String> all = retry.call(() -> limiter.withPermit(() -> {
            calls.add(System.nanoTime());
            return CompletableFuture.failedFuture(new IOException("busy"));
        }));
        assertInstanceOf(IOException.class, awaitFailure(all));
        assertEquals(3, calls.size());
        assertTrue(calls.get(2) - start >= TimeUnit.MILLISECONDS.toNanos(20), calls::toString);
    }

    @Test
    void severalRates_eachBoundsTheSamePermits() {
        AsyncRateLimiter limiter = AsyncRateLimiter.builder(10, Duration.ofSeconds(1))
                .and(3, DAY)
                .and(1_000, DAY.multipliedBy(2))
                .burst(20)
                .name("api")
                .build();
        assertThrows(IllegalArgumentException.class, () -> limiter.acquire(4));
        assertTrue(limiter.tryAcquire(3));
        assertFalse(limiter.tryAcquire());
        assertEquals(
                "AsyncRateLimiter 'api' (10 per 1s and 3 per 1d and 1000 per 2d, burst = 3, available = 0, waiting = 0)",
                limiter.toString());
        AsyncRateLimiter.Builder builder = AsyncRateLimiter.builder(1, DAY);
        for (int permits : List.of(Integer.MIN_VALUE, 0))
            assertThrows(IllegalArgumentException.class, () -> builder.and(permits, DAY));
        assertThrows(IllegalArgumentException.class, () -> builder.and(1, Duration.ZERO));
        AsyncRateLimiters<String> perKey = AsyncRateLimiters.create(
                AsyncRateLimiter.builder(10, DAY).and(3, DAY).burst(20));
        assertTrue(perKey.tryAcquire("a", 3));
        assertFalse(perKey.tryAcquire("a"));
        assertTrue(perKey.tryAcquire("b"));
        builder.and(1, DAY).leaky();
        assertThrows(IllegalStateException.class, builder::build);
    }

    @Test
    void tryReserve_onlyWhatIsDueInTime() {
        AsyncRateLimiter limiter = AsyncRateLimiter.builder(1, DAY).burst(2).build();
        for (Duration never : List.of(Duration.ZERO, Duration.ofSeconds(Long.MIN_VALUE)))
            assertEquals(Duration.ZERO, limiter.tryReserve(never).orElseThrow().delay());
        assertTrue(limiter.tryReserve(Duration.ofHours(23)).isEmpty());
        assertThrows(IllegalArgumentException.class, () -> limiter.tryReserve(3, DAY));
        RateReservation reservation =
                limiter.tryReserve(2, Duration.ofSeconds(Long.MAX_VALUE)).orElseThrow();
        assertTrue(reservation.delay().compareTo(DAY) > 0);
        assertTrue(limiter.tryReserve(1, DAY.multipliedBy(2)).isEmpty());
        assertTrue(reservation.cancel());
        limiter.close();
        assertThrows(RateLimiterClosedException.class, () -> limiter.tryReserve(DAY));
    }

    /** Of a wait that begins with a try, only the end counts. */
    @Test
    void metrics_countEachRequestOnce() throws Exception {
        AsyncRateLimiter limiter =
                AsyncRateLimiter.builder(1, DAY).maxWaiting(1).build();
        assertEquals("granted = 0, refused = 0, waited = 0s", limiter.metrics().toString());
        await(limiter.acquire());
        assertFalse(limiter.tryAcquire());
        assertInstanceOf(TimeoutException.class, failure(limiter.acquire(Duration.ZERO)));
        assertInstanceOf(TimeoutException.class, failure(limiter.acquire(Duration.ofSeconds(1))));
        assertInstanceOf(TimeoutException.class, failure(limiter.withPermit(() -> stage(), Duration.ofSeconds(1))));
        for (Duration time : List.of(Duration.ZERO, Duration.ofSeconds(1)))
            assertThrows(TimeoutException.class, () -> limiter.blocking().acquire(time));
        assertThrows(TimeoutException.class, () -> limiter.blocking().call(Duration.ofSeconds(1), () -> "never"));
        assertEquals(7, limiter.metrics().getRefused());
        CompletableFuture<Void> waits = limiter.acquire();
        assertInstanceOf(RateLimitedException.class, failure(limiter.acquire()));
        assertTrue(limiter.metrics().waited().compareTo(Duration.ZERO) > 0);
        waits.cancel(false);
        assertEquals(
                "1 8", limiter.metrics().getGranted() + " " + limiter.metrics().getRefused());
        CompletableFuture<Void> late = limiter.acquire(1, Duration.ofDays(2));
        late.orTimeout(1, TimeUnit.MILLISECONDS);
        assertInstanceOf(TimeoutException.class, awaitFailure(late));
        assertEquals(8, limiter.metrics().getRefused(), "a future that is completed from outside is no refusal");
    }

    private static CompletableFuture<String> stage() {
        throw new AssertionError("ran");
    }

    @Test
    void withPermit_withATimeout_runsOnlyIfItIsGrantedInTime() {
        AsyncRateLimiter limiter = AsyncRateLimiter.builder(1, DAY).burst(2).build();
        assertEquals(
                "in",
                limiter.withPermit(() -> CompletableFuture.completedFuture("in"), Duration.ZERO)
                        .join());
        assertEquals(
                "in",
                limiter.withPermit(() -> "in", Runnable::run, Duration.ZERO).join());
        for (Duration time : List.of(Duration.ofSeconds(Long.MIN_VALUE), Duration.ZERO, Duration.ofHours(1))) {
            assertInstanceOf(TimeoutException.class, failure(limiter.withPermit(() -> stage(), time)));
            assertInstanceOf(
                    TimeoutException.class, failure(limiter.withPermit(() -> stage().join(), Runnable::run, time)));
        }
        AsyncRateLimiter next = AsyncRateLimiter.builder(1, DAY).build();
        CompletableFuture<String> rejected = next.withPermit(() -> "in", Futures.REJECTING, DAY);
        assertInstanceOf(java.util.concurrent.RejectedExecutionException.class, failure(rejected));
        assertEquals(0, next.availablePermits());
    }
}
