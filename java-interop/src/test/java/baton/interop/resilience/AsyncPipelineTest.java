package baton.interop.resilience;

import static baton.interop.Futures.await;
import static baton.interop.Futures.awaitFailure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.PermitTimeoutException;
import baton.interop.AsyncCircuitBreaker;
import baton.interop.AsyncPipeline;
import baton.interop.AsyncRateLimiter;
import baton.interop.AsyncRetry;
import baton.interop.AsyncSemaphore;
import baton.monitoring.CallEvent;
import baton.monitoring.CallOutcome;
import baton.resilience.AttemptTimeoutException;
import baton.resilience.ResiliencePipeline;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The futures and threads of a pipeline: their ends, their races, and the builder. */
class AsyncPipelineTest {
    private static final Duration LONG = Duration.ofMinutes(2);

    private final AsyncCircuitBreaker breaker = AsyncCircuitBreaker.create("api");
    private final AsyncRateLimiter limiter =
            AsyncRateLimiter.builder(1, Duration.ofDays(1)).burst(10).build();
    private final AsyncSemaphore semaphore = AsyncSemaphore.create(2);

    private AsyncPipeline.Builder full() {
        return AsyncPipeline.builder("billing")
                .breaker(breaker)
                .limiter(limiter)
                .semaphore(semaphore);
    }

    private AsyncPipeline.Builder retrying() {
        return full().retry(
                        AsyncRetry.builder().constant(Duration.ZERO).jitter(0).build());
    }

    private void assertNothingHeld(int tokens, int calls) {
        assertEquals(2, semaphore.availablePermits());
        assertEquals(0, semaphore.waiting());
        assertEquals(10 - tokens, limiter.availablePermits());
        assertEquals(calls, breaker.metrics().getCalls());
    }

    @Test
    void lines_ofTheDocumentation_compileAndRun() throws Exception {
        AsyncRetry policy = AsyncRetry.builder().maxAttempts(3).build();
        AsyncPipeline upstream = AsyncPipeline.builder("billing")
                .retry(policy)
                .breaker(breaker)
                .limiter(limiter)
                .semaphore(semaphore)
                .maxWait(Duration.ofMillis(200))
                .attemptTimeout(Duration.ofSeconds(2))
                .build();
        CompletableFuture<String> answer = upstream.call(() -> CompletableFuture.completedFuture("answer"));
        assertEquals("answer", await(answer));
        String text = upstream.blocking().call(() -> "text");
        assertEquals("text", text);
        assertEquals("billing", upstream.kotlin().getName());
        assertSame(upstream.kotlin(), AsyncPipeline.of(upstream.kotlin()).kotlin());
        assertNothingHeld(2, 2);
        AsyncPipeline hedged =
                AsyncPipeline.builder(null).hedge(Duration.ofMillis(200), 2).build();
        assertEquals("answer", await(hedged.call(() -> CompletableFuture.completedFuture("answer"))));
        assertEquals(
                "BlockingPipeline of ResiliencePipeline (hedge = Hedge (after = 200ms, attempts = 2),"
                        + " maxWait = Infinity, attemptTimeout = Infinity)",
                hedged.blocking().toString());
        assertTrue(hedged.toString().startsWith("AsyncPipeline of ResiliencePipeline"));
    }

    @Test
    void badSettings_areRefusedAtTheCall() {
        AsyncPipeline.Builder builder = full();
        assertThrows(IllegalArgumentException.class, () -> builder.maxWait(Duration.ofNanos(-1)));
        assertThrows(IllegalArgumentException.class, () -> builder.attemptTimeout(Duration.ZERO));
        assertThrows(IllegalArgumentException.class, () -> builder.hedge(Duration.ZERO, 2));
        assertThrows(IllegalArgumentException.class, () -> builder.hedge(LONG, 1));
        AsyncRetry timed = AsyncRetry.builder().attemptTimeout(LONG).build();
        assertThrows(IllegalArgumentException.class, () -> builder.retry(timed));
        assertTrue(builder.toString().startsWith("Builder of AsyncResiliencePipeline 'billing' (breaker = "));
    }

    @Test
    void policy_isDerivedByItsBuilder() {
        AsyncRetry one =
                AsyncRetry.builder().maxAttempts(7).failAfterLast().name("one").build();
        AsyncRetry other = one.toBuilder().name("other").build();
        assertNotSame(one.kotlin(), other.kotlin());
        assertEquals(7, other.kotlin().getMaxAttempts());
        assertTrue(other.kotlin().getFailAfterLast());
        assertEquals("other", other.kotlin().getName());
        assertEquals("one", one.kotlin().getName());
    }

    /** The ways to end a future from outside. */
    enum End {
        CANCEL(future -> future.cancel(true)),
        COMPLETE(future -> future.complete("mine")),
        FAIL(future -> future.completeExceptionally(new IllegalStateException())),
        TIME_OUT(future ->
                assertInstanceOf(TimeoutException.class, awaitFailure(future.orTimeout(1, TimeUnit.MILLISECONDS))));

        final Consumer<CompletableFuture<String>> way;

        End(Consumer<CompletableFuture<String>> way) {
            this.way = way;
        }
    }

    @ParameterizedTest
    @EnumSource
    void call_endedFromOutside_cancelsTheStageInAllLayers_andCountsAsNothing(End end) {
        for (AsyncPipeline pipeline : List.of(
                retrying().build(),
                retrying().attemptTimeout(LONG).build(),
                retrying().hedge(LONG, 2).attemptTimeout(LONG).build())) {
            CompletableFuture<String> stage = new CompletableFuture<>();
            AtomicInteger fallbacks = new AtomicInteger();
            CompletableFuture<String> future = pipeline.call(() -> stage, e -> {
                fallbacks.incrementAndGet();
                return CompletableFuture.completedFuture("fallback");
            });
            assertEquals(1, semaphore.availablePermits());
            end.way.accept(future);
            await(stage.handle((value, e) -> e));
            assertTrue(stage.isCancelled());
            assertEquals(end == End.CANCEL, future.isCancelled());
            awaitFree();
            assertEquals(2, semaphore.availablePermits());
            assertEquals(0, fallbacks.get());
        }
        assertNothingHeld(3, 0);
    }

    @Test
    void call_cancelledWhileItWaitsForAPermit_withdrawsTheRequest() {
        var held = semaphore.tryAcquire(2).orElseThrow();
        AtomicInteger runs = new AtomicInteger();
        CompletableFuture<Integer> future =
                retrying().hedge(LONG, 2).build().call(() -> CompletableFuture.completedFuture(runs.incrementAndGet()));
        assertEquals(1, semaphore.waiting());
        future.cancel(false);
        assertEquals(0, semaphore.waiting());
        held.close();
        assertNothingHeld(1, 0);
        assertEquals(0, runs.get());
    }

    @Test
    void attemptThatIsLate_isCancelledAndRetried_andCounts() {
        AtomicInteger runs = new AtomicInteger();
        AsyncPipeline pipeline =
                retrying().attemptTimeout(Duration.ofMillis(20)).build();
        CompletableFuture<String> never = new CompletableFuture<>();
        assertEquals(
                "second",
                await(pipeline.call(
                        () -> runs.incrementAndGet() == 1 ? never : CompletableFuture.completedFuture("second"))));
        assertTrue(never.isCancelled());
        assertNothingHeld(2, 2);
        assertEquals(0.5, breaker.metrics().getFailureRate());
    }

    @Test
    void attemptOfAThreadThatIsLate_isInterrupted_andCounts() throws Exception {
        AsyncPipeline pipeline = full().attemptTimeout(Duration.ofMillis(20)).build();
        assertThrows(
                AttemptTimeoutException.class,
                () -> pipeline.blocking().call(() -> {
                    new CountDownLatch(1).await();
                    return "never";
                }));
        assertFalse(Thread.interrupted());
        assertNothingHeld(1, 1);
        String late = pipeline.blocking()
                .call(
                        () -> {
                            new CountDownLatch(1).await();
                            return "never";
                        },
                        e -> e.getClass().getSimpleName());
        assertEquals("AttemptTimeoutException", late);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void interruptedThread_leavesNothingBehind_andHasNoFallback(boolean isHedged) throws Exception {
        AsyncPipeline.Builder builder = retrying();
        AsyncPipeline pipeline = (isHedged ? builder.hedge(LONG, 2) : builder).build();
        AtomicInteger fallbacks = new AtomicInteger();
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch ended = new CountDownLatch(1);
        FutureTask<String> task = new FutureTask<>(() -> pipeline.blocking()
                .call(
                        () -> {
                            inside.countDown();
                            try {
                                new CountDownLatch(1).await();
                            } finally {
                                ended.countDown();
                            }
                            return "never";
                        },
                        e -> "fallback " + fallbacks.incrementAndGet()));
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        thread.start();
        assertTrue(inside.await(2, TimeUnit.MINUTES));
        thread.interrupt();
        var e = assertThrows(ExecutionException.class, () -> task.get(2, TimeUnit.MINUTES));
        assertInstanceOf(InterruptedException.class, e.getCause());
        assertTrue(ended.await(2, TimeUnit.MINUTES), "the attempt is interrupted");
        awaitFree();
        assertNothingHeld(1, 0);
        assertEquals(0, fallbacks.get());
    }

    private void awaitFree() {
        await(semaphore.awaitIdle());
    }

    @Test
    void silentStage_isJoinedByAnother_andCancelledWhenThatSucceeds() throws Exception {
        List<CallEvent> heard = new CopyOnWriteArrayList<>();
        AsyncPipeline pipeline = retrying().hedge(Duration.ofMillis(10), 2).build();
        AutoCloseable listener = pipeline.onCall(heard::add);
        CompletableFuture<String> silent = new CompletableFuture<>();
        AtomicInteger runs = new AtomicInteger();
        assertEquals(
                "second",
                await(pipeline.call(
                        () -> runs.incrementAndGet() == 1 ? silent : CompletableFuture.completedFuture("second"))));
        assertTrue(silent.isCancelled());
        assertEquals(2, runs.get());
        assertNothingHeld(2, 1);
        listener.close();
        assertEquals(CallOutcome.SUCCESS, heard.get(0).getOutcome());
        assertEquals(2, heard.get(0).getAttempts());
        assertEquals(0, heard.get(0).getRetries());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void loserThatCannotBeCancelled_holdsItsPermitUntilItEnds(boolean isTimed) {
        CompletableFuture<String> stubborn = new CompletableFuture<>() {
            @Override
            public boolean cancel(boolean mayInterruptIfRunning) {
                return false;
            }
        };
        AtomicInteger runs = new AtomicInteger();
        AsyncPipeline.Builder builder = full().hedge(Duration.ofMillis(10), 2);
        AsyncPipeline pipeline = (isTimed ? builder.attemptTimeout(LONG) : builder).build();
        assertEquals(
                "second",
                await(pipeline.call(
                        () -> runs.incrementAndGet() == 1 ? stubborn : CompletableFuture.completedFuture("second"))));
        assertEquals(1, semaphore.availablePermits());
        stubborn.complete("first");
        assertNothingHeld(2, 1);
        CompletableFuture<String> other = new CompletableFuture<>();
        CompletableFuture<String> call = pipeline.call(() -> other);
        call.cancel(true);
        assertTrue(other.isCancelled());
        assertNothingHeld(3, 1);
    }

    @Test
    void furtherAttempt_withoutAPermit_doesNotTakePlace() {
        var held = semaphore.tryAcquire(1).orElseThrow();
        CompletableFuture<String> slow = new CompletableFuture<>();
        AtomicInteger runs = new AtomicInteger();
        CompletableFuture<String> call = full().hedge(Duration.ofMillis(5), 2)
                .build()
                .call(() -> {
                    runs.incrementAndGet();
                    return slow;
                });
        semaphore.resize(1); // what the first attempt gives back pays the debt, so none is free for the second
        while (limiter.availablePermits() > 8) Thread.onSpinWait(); // its token, then the semaphore refuses
        slow.complete("first");
        assertEquals("first", await(call));
        assertEquals(1, runs.get());
        held.close();
        semaphore.resize(2);
        assertNothingHeld(2, 1);
    }

    @Test
    void failuresOfTheRace_areTheFirstWithTheOthersSuppressed_andAnErrorEndsItAtOnce() {
        CompletableFuture<String> first = new CompletableFuture<>();
        AtomicInteger begun = new AtomicInteger();
        AsyncPipeline pipeline = full().hedge(Duration.ofMillis(5), 2).build();
        CompletableFuture<String> call = pipeline.call(() -> {
            boolean isFirst = begun.incrementAndGet() == 1;
            return isFirst ? first : CompletableFuture.failedFuture(new IOException("second"));
        });
        while (begun.get() < 2) Thread.onSpinWait();
        first.completeExceptionally(new CompletionException(new IOException("first")));
        Throwable why = awaitFailure(call);
        assertEquals("first", why.getMessage());
        assertEquals("second", why.getSuppressed()[0].getMessage());
        CompletableFuture<String> silent = new CompletableFuture<>();
        AtomicInteger runs = new AtomicInteger();
        assertInstanceOf(LinkageError.class, awaitFailure(pipeline.call(() -> {
            if (runs.incrementAndGet() == 1) return silent;
            throw new LinkageError();
        })));
        assertTrue(silent.isCancelled());
        assertNothingHeld(4, 1);
    }

    @Test
    void silentThread_isJoinedByAnother_andInterruptedWhenThatSucceeds() throws Exception {
        AsyncPipeline pipeline = retrying().hedge(Duration.ofMillis(10), 2).build();
        AtomicInteger runs = new AtomicInteger();
        CountDownLatch interrupted = new CountDownLatch(1);
        assertEquals("second", pipeline.blocking().call(() -> {
            if (runs.incrementAndGet() > 1) return "second";
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException e) {
                interrupted.countDown();
            }
            return "first";
        }));
        assertTrue(interrupted.await(2, TimeUnit.MINUTES));
        awaitFree();
        assertNothingHeld(2, 1);
        assertThrows(
                IOException.class,
                () -> pipeline.blocking().call(() -> {
                    throw new CompletionException(new IOException());
                }));
    }

    @Test
    void nullStageOfAHedgedAction_failsTheCallOrItsAttempt() {
        AsyncPipeline pipeline =
                AsyncPipeline.builder(null).hedge(Duration.ofMillis(5), 2).build();
        assertInstanceOf(NullPointerException.class, awaitFailure(pipeline.call(() -> null)));
        CompletableFuture<String> first = new CompletableFuture<>();
        CountDownLatch begun = new CountDownLatch(2);
        CompletableFuture<String> call = pipeline.call(() -> {
            begun.countDown();
            return begun.getCount() == 1 ? first : null;
        });
        while (begun.getCount() > 0) Thread.onSpinWait();
        first.completeExceptionally(new IOException("first"));
        assertEquals("first", awaitFailure(call).getMessage());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void waitOfARefusedAttempt_isInTheEvent(boolean isRetried) throws Exception {
        List<CallEvent> heard = new CopyOnWriteArrayList<>();
        AsyncPipeline pipeline =
                (isRetried ? retrying() : full()).maxWait(Duration.ofMillis(20)).build();
        AutoCloseable listener = pipeline.onCall(heard::add);
        try (var held = semaphore.tryAcquire(2).orElseThrow()) {
            awaitFailure(pipeline.call(() -> CompletableFuture.completedFuture("x")));
            assertTrue(held.isHeld());
        }
        listener.close();
        Duration waited = heard.get(0).waited();
        assertTrue(waited.toMillis() >= 15, waited.toString());
    }

    @Test
    void callOfAnInterruptedThread_hasNoRetries() throws Exception {
        List<CallEvent> heard = new CopyOnWriteArrayList<>();
        AsyncPipeline pipeline = retrying().build();
        AutoCloseable listener = pipeline.onCall(heard::add);
        Thread.currentThread().interrupt();
        assertThrows(InterruptedException.class, () -> pipeline.blocking().call(() -> "x"));
        listener.close();
        assertEquals(0, heard.get(0).getAttempts());
        assertEquals(0, heard.get(0).getRetries());
    }

    @Test
    void refusal_namesTheGuard() {
        try (var held = semaphore.tryAcquire(2).orElseThrow()) {
            AsyncPipeline pipeline = full().maxWait(Duration.ofMillis(1)).build();
            Throwable e = awaitFailure(pipeline.call(() -> CompletableFuture.completedFuture("x")));
            assertInstanceOf(PermitTimeoutException.class, e);
            assertTrue(e.getMessage().startsWith("no permit within 1ms from Semaphore"), e.getMessage());
            assertTrue(held.isHeld());
        }
    }

    @Test
    void actionOrFallback_thatReturnsNull_failsTheCall() {
        Throwable e = awaitFailure(full().build().call(() -> null));
        assertEquals("the action returned null instead of a stage", e.getMessage());
        Throwable f = awaitFailure(
                full().build().call(() -> CompletableFuture.failedFuture(new IOException("down")), why -> null));
        assertEquals("the fallback returned null instead of a stage", f.getMessage());
        assertEquals("down", f.getSuppressed()[0].getMessage());
        ResiliencePipeline bare = AsyncPipeline.builder(null).build().kotlin();
        assertInstanceOf(
                NullPointerException.class, awaitFailure(AsyncPipeline.of(bare).call(() -> null)));
    }
}
