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
import baton.interop.AsyncPipeline;
import baton.interop.AsyncRetry;
import baton.interop.futures.Ender;
import baton.monitoring.CallEvent;
import baton.resilience.AttemptTimeoutException;
import baton.resilience.ResiliencePipeline;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The futures and threads of a pipeline: their ends, their races, and the builder. */
class AsyncPipelineTest extends PipelineFixture {
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

    @ParameterizedTest
    @EnumSource
    void call_endedFromOutside_cancelsTheStageInAllLayers_andCountsAsNothing(Ender end) {
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
            end.end(future);
            await(stage.handle((value, e) -> e));
            assertTrue(stage.isCancelled());
            assertEquals(end.isCancel(), future.isCancelled());
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
