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

import baton.interop.AsyncRetry;
import baton.interop.BlockingRetry;
import baton.interop.CancellableFuture;
import baton.resilience.AttemptTimeoutException;
import baton.resilience.RetryBudget;
import baton.resilience.RetryPolicy;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The futures of retries: their ends, the threads of their attempts, and the builder. */
class AsyncRetryTest {
    private final List<CompletableFuture<String>> stages = Collections.synchronizedList(new ArrayList<>());
    private final List<String> threads = Collections.synchronizedList(new ArrayList<>());

    private CompletableFuture<String> newStage() {
        CompletableFuture<String> stage = new CompletableFuture<>();
        threads.add(Thread.currentThread().getName());
        stages.add(stage);
        return stage;
    }

    private static AsyncRetry.Builder waiting(Duration delay) {
        return AsyncRetry.builder().constant(delay).maxDelay(delay).jitter(0).name("api");
    }

    /** The ways to end a future from outside. */
    enum End {
        CANCEL(future -> future.cancel(true)),
        COMPLETE(future -> future.complete("mine")),
        FAIL(future -> future.completeExceptionally(new IllegalStateException())),
        TIME_OUT(future -> {
            CompletableFuture<String> same = future.orTimeout(1, TimeUnit.MILLISECONDS);
            assertInstanceOf(java.util.concurrent.TimeoutException.class, awaitFailure(same));
        });

        final Consumer<CompletableFuture<String>> way;

        End(Consumer<CompletableFuture<String>> way) {
            this.way = way;
        }
    }

    @ParameterizedTest
    @EnumSource
    void call_endedWhileItsStageRuns_cancelsTheStage(End end) {
        CompletableFuture<String> future = waiting(Duration.ZERO).build().call(this::newStage);
        end.way.accept(future);
        await(stages.get(0).handle((value, e) -> e));
        assertTrue(stages.get(0).isCancelled());
        assertEquals(1, stages.size());
        assertEquals(end == End.CANCEL, future.isCancelled());
    }

    @ParameterizedTest
    @EnumSource
    void call_endedWhileItWaits_endsAtOnce(End end) {
        CompletableFuture<String> future = waiting(Duration.ofHours(1)).build().call(this::newStage);
        stages.get(0).completeExceptionally(new IOException());
        assertFalse(future.isDone());
        end.way.accept(future);
        assertTrue(future.isDone());
        assertEquals(1, stages.size());
    }

    @Test
    void call_endedWithinTheAction_cancelsItsStage() {
        List<CompletableFuture<String>> futures = new ArrayList<>();
        futures.add(waiting(Duration.ZERO).build().call(() -> {
            if (!stages.isEmpty()) futures.get(0).cancel(true);
            return newStage();
        }));
        stages.get(0).completeExceptionally(new IOException());
        assertTrue(stages.get(1).isCancelled());
        assertTrue(futures.get(0).isCancelled());
    }

    /** One thread ends the stages while another one ends the future. */
    @Test
    void call_endedWhileAttemptsFollowEachOther_leavesNoStageIncomplete() {
        AsyncRetry retry = waiting(Duration.ZERO).maxAttempts(1_000_000).build();
        for (int i = 0; i < 500; i++) {
            stages.clear();
            CompletableFuture<String> future = retry.call(this::newStage);
            CompletableFuture<Void> failing = CompletableFuture.runAsync(() -> {
                for (int j = 0; !future.isDone(); j++) stages.get(j).completeExceptionally(new IOException());
            });
            while (stages.size() < 2 + i % 3) Thread.onSpinWait();
            future.cancel(true);
            await(failing);
            assertTrue(stages.stream().allMatch(CompletableFuture::isDone));
        }
    }

    @Test
    void attempts_afterAWait_runOnACallbackThread() {
        CompletableFuture<String> future = waiting(Duration.ofMillis(1)).build().call(this::newStage);
        CompletableFuture<String> thread =
                future.thenApply(value -> Thread.currentThread().getName());
        stages.get(0).completeExceptionally(new IOException());
        while (stages.size() < 2) Thread.onSpinWait();
        assertTrue(threads.get(1).startsWith("baton-callbacks-"), threads::toString);
        stages.get(1).complete("x");
        assertEquals(Thread.currentThread().getName(), await(thread));
    }

    @Test
    void failure_inACompletionException_isUnwrapped() {
        List<Throwable> seen = new ArrayList<>();
        IOException cause = new IOException();
        AsyncRetry retry =
                waiting(Duration.ZERO).maxAttempts(2).retryIf(seen::add).build();
        CompletableFuture<Object> future = retry.call(() -> CompletableFuture.supplyAsync(() -> {
            throw new CompletionException(cause);
        }));
        assertSame(
                cause,
                assertInstanceOf(CompletionException.class, awaitFailure(future.thenApply(x -> x)))
                        .getCause());
        assertEquals(List.of(cause), seen);
        awaitFailure(retry.call(() -> {
            throw new CompletionException(cause);
        }));
        assertThrows(
                IOException.class,
                () -> retry.blocking().call(() -> {
                    throw new CompletionException(cause);
                }));
        assertEquals(List.of(cause, cause, cause), seen);
    }

    @Test
    void stage_cancelled_cancelsTheFuture() {
        CompletableFuture<String> future =
                waiting(Duration.ZERO).retryIf(e -> true).build().call(this::newStage);
        stages.get(0).cancel(true);
        assertTrue(future.isCancelled());
        assertEquals(1, stages.size());
    }

    @Test
    void actionThatReturnsNull_hasFailed() {
        CompletableFuture<String> future = waiting(Duration.ZERO).build().call(() -> null);
        assertEquals(
                "the action returned null instead of a stage", failure(future).getMessage());
    }

    @Test
    void retryAfterThatReturnsNull_endsTheCallAndIsNamed() {
        String message = "retryAfter returned null instead of an Optional";
        IOException cause = new IOException();
        AsyncRetry ofFailures =
                waiting(Duration.ZERO).retryIf(e -> true).retryAfter(e -> null).build();
        Throwable ofFailure = failure(ofFailures.call(() -> CompletableFuture.failedFuture(cause)));
        assertEquals(message, ofFailure.getMessage());
        assertEquals(List.of(cause), List.of(ofFailure.getSuppressed()));
        AsyncRetry ofResults = waiting(Duration.ZERO).build();
        Throwable ofResult =
                failure(ofResults.call(() -> CompletableFuture.completedFuture("x"), x -> true, x -> null));
        assertEquals(message, ofResult.getMessage());
        BlockingRetry blocking = ofResults.blocking();
        Throwable ofCall =
                assertThrows(NullPointerException.class, () -> blocking.call(() -> "x", x -> true, x -> null));
        assertEquals(message, ofCall.getMessage());
    }

    @Test
    void attemptTimeout_cancelsTheStageAndIsRetried() {
        AsyncRetry retry = waiting(Duration.ZERO)
                .maxAttempts(2)
                .attemptTimeout(Duration.ofMillis(10))
                .build();
        CompletableFuture<String> future = retry.call(this::newStage);
        Throwable failure = awaitFailure(future);
        assertInstanceOf(AttemptTimeoutException.class, failure);
        assertEquals("attempt 2 of retry 'api' not done within 10ms", failure.getMessage());
        assertEquals(1, failure.getSuppressed().length);
        assertTrue(stages.stream().allMatch(CompletableFuture::isCancelled));
        assertTrue(threads.get(1).startsWith("baton-callbacks-"), threads::toString);
    }

    /** As a coroutine or a thread that returns after the timeout. */
    @Test
    void value_ofAStageThatIsNotCancelled_countsAfterTheTimeout() {
        AsyncRetry retry =
                waiting(Duration.ZERO).attemptTimeout(Duration.ofMillis(1)).build();
        CompletableFuture<String> future = retry.call(() -> {
            stages.add(new CompletableFuture<>() {
                @Override
                public boolean cancel(boolean mayInterruptIfRunning) {
                    return !complete("late");
                }
            });
            return stages.get(stages.size() - 1);
        });
        assertEquals("late", await(future));
        assertEquals(1, stages.size());
    }

    @Test
    void call_whoseFirstStageIsComplete_isDoneAtOnce() {
        RetryBudget budget = new RetryBudget(1, 1);
        AsyncRetry retry = waiting(Duration.ZERO)
                .budget(budget)
                .attemptTimeout(Duration.ofDays(1))
                .build();
        List<Supplier<CompletionStage<String>>> complete = List.of(
                () -> CompletableFuture.completedFuture("x"),
                () -> CompletableFuture.completedStage("x"),
                () -> CancellableFuture.completedFuture("x"));
        for (Supplier<CompletionStage<String>> action : complete) {
            CompletableFuture<String> failing = retry.call(() -> CompletableFuture.failedFuture(new IOException()));
            assertInstanceOf(IOException.class, awaitFailure(failing));
            assertEquals(0, budget.getAvailable());
            CompletableFuture<String> future = retry.call(action);
            assertTrue(future.isDone());
            assertEquals("x", future.join());
            assertEquals(1, budget.getAvailable());
        }
    }

    /** The stage is cancelled at once, but its function still runs. */
    @Test
    void attemptTimeout_ofACancellableFuture_waitsForItsFunction() throws Exception {
        CompletableFuture<String> cleanedUp = new CompletableFuture<>();
        CompletableFuture<Object> cancelled = new CompletableFuture<>();
        AsyncRetry retry = waiting(Duration.ZERO)
                .maxAttempts(2)
                .attemptTimeout(Duration.ofMillis(10))
                .build();
        CompletableFuture<String> future = retry.call(() -> {
            if (!stages.isEmpty()) return CompletableFuture.completedFuture("second");
            stages.add(cleanedUp);
            CompletableFuture<String> running = new CompletableFuture<>();
            CompletableFuture<String> work = CancellableFuture.supply(r -> CompletableFuture.runAsync(r), token -> {
                token.onCancel(() -> cancelled.complete("cancelled"));
                running.complete("running");
                return cleanedUp.join();
            });
            // A function that the timeout finds before it runs is not called.
            await(running);
            return work;
        });
        await(cancelled);
        assertThrows(java.util.concurrent.TimeoutException.class, () -> future.get(20, TimeUnit.MILLISECONDS));
        cleanedUp.complete("late");
        assertEquals("second", await(future));
    }

    /** A stage of a broken class. */
    @Test
    void stage_thatReportsItsEndTwice_isFollowedByOneAttempt() {
        CompletableFuture<String> future = waiting(Duration.ZERO).build().call(() -> {
            stages.add(new CompletableFuture<>() {
                @Override
                public CompletableFuture<String> whenComplete(BiConsumer<? super String, ? super Throwable> action) {
                    var unused = super.whenComplete(action);
                    return super.whenComplete(action);
                }
            });
            return stages.get(stages.size() - 1);
        });
        stages.get(0).completeExceptionally(new IOException());
        assertEquals(2, stages.size());
        stages.get(1).complete("second");
        assertEquals("second", future.join());
    }

    @Test
    void retriesWithoutAWait_completedByOtherStages_needNoStack() {
        AsyncRetry retry = waiting(Duration.ZERO).maxAttempts(10_001).build();
        CompletableFuture<String> future = retry.call(this::newStage);
        for (int i = 0; i < 10_000; i++) stages.get(i).completeExceptionally(new IOException());
        stages.get(10_000).complete("done");
        assertEquals("done", await(future));
    }

    @Test
    void texts_nameTheCall() {
        CompletableFuture<String> future = waiting(Duration.ZERO).build().call(this::newStage);
        assertEquals("retry 'api', attempt 1 of 3", future.toString());
        future.cancel(true);
        assertEquals(
                "retry 'api', attempt 1 of 3 was cancelled",
                assertInstanceOf(CancellationException.class, failure(future)).getMessage());
    }

    @ParameterizedTest
    @ValueSource(strings = {"3", "Sun, 06 Nov 1994 08:49:37 GMT", "soon", ""})
    void header_isParsed(String header) {
        Optional<Duration> parsed = AsyncRetry.parseRetryAfter(Optional.of(header));
        Optional<Duration> zero = Optional.of(Duration.ZERO);
        Optional<Duration> expected = header.startsWith("Sun") ? zero : Optional.empty();
        assertEquals(header.equals("3") ? Optional.of(Duration.ofSeconds(3)) : expected, parsed);
        assertEquals(Optional.empty(), AsyncRetry.parseRetryAfter(Optional.empty()));
    }

    @Test
    void builder_withAllSettings_keepsThem() {
        List<Duration> delays = new ArrayList<>();
        AsyncRetry retry = AsyncRetry.builder()
                .maxAttempts(5)
                .fibonacci(Duration.ofMillis(1), Duration.ofSeconds(10))
                .fullJitter()
                .equalJitter()
                .decorrelatedJitter()
                .jitter(0)
                .attemptTimeout(Duration.ofSeconds(5))
                .maxElapsed(Duration.ofMinutes(1))
                .maxRetryAfter(Duration.ofMillis(2))
                .retryIf(e -> e instanceof IOException)
                .retryAfter(e -> Optional.of(Duration.ofMillis("".equals(e.getMessage()) ? 3 : 2)))
                .budget(0.2, 10)
                .onRetry(attempt -> delays.add(attempt.delay()))
                .name("api")
                .build();
        RetryPolicy policy = retry.kotlin();
        assertEquals(5, policy.getMaxAttempts());
        assertEquals("api", policy.getName());
        assertEquals(policy, AsyncRetry.of(policy).kotlin());
        assertEquals("AsyncRetry of " + policy, retry.toString());
        assertInstanceOf(
                IllegalStateException.class,
                failure(retry.call(() -> CompletableFuture.failedFuture(new IllegalStateException()))));
        assertInstanceOf(
                IOException.class, failure(retry.call(() -> CompletableFuture.failedFuture(new IOException("")))));
        assertInstanceOf(
                IOException.class,
                awaitFailure(retry.call(() -> CompletableFuture.failedFuture(new IOException("x")))));
        assertEquals(
                List.of(2L, 2L, 2L, 3L), delays.stream().map(Duration::toMillis).toList());
        assertFalse(delays.isEmpty());
    }

    @Test
    void builder_withBadArguments_refusesThemAtTheCall() {
        AsyncRetry.Builder builder = AsyncRetry.builder();
        Duration negative = Duration.ofNanos(-1);
        assertRefused("maxAttempts = 0, must be at least 1", () -> builder.maxAttempts(0));
        assertRefused("delay = -1ns, must be at least 0", () -> builder.constant(negative));
        assertRefused("base = -1ns, must be at least 0", () -> builder.exponential(negative, negative));
        assertRefused("maxDelay = -1ns, must be at least 0", () -> builder.exponential(Duration.ZERO, negative));
        assertRefused("factor = 2.0, must be within 0.0..1.0", () -> builder.jitter(2));
        assertRefused("attemptTimeout = 0s, must be above 0", () -> builder.attemptTimeout(Duration.ZERO));
        assertRefused("burst = -1, must be at least 0", () -> builder.budget(0, -1));
    }

    private static void assertRefused(String message, Runnable call) {
        assertEquals(
                message, assertThrows(IllegalArgumentException.class, call::run).getMessage());
    }
}
