package baton.interop.resilience;

import static baton.interop.Futures.await;
import static baton.interop.Futures.awaitFailure;
import static baton.interop.Futures.reportedBy;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.PermitTimeoutException;
import baton.interop.AsyncCallGuard;
import baton.interop.AsyncCircuitBreaker;
import baton.interop.AsyncPipeline;
import baton.interop.AsyncSemaphore;
import baton.interop.Permit;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Guards of an application in a pipeline: for futures and threads. */
class AsyncCallGuardTest {
    private static final Duration NO_LIMIT = Duration.ofNanos(Long.MAX_VALUE);

    private final AsyncCircuitBreaker breaker = AsyncCircuitBreaker.create("api");

    /** A guard whose stages the test completes. */
    private static final class Quota implements AsyncCallGuard {
        final List<CompletableFuture<AutoCloseable>> requests = new ArrayList<>();
        final List<Duration> waits = new ArrayList<>();
        final CountDownLatch asked = new CountDownLatch(1);
        volatile int closed;

        @Override
        public CompletionStage<AutoCloseable> acquire(Duration maxWait) {
            waits.add(maxWait);
            CompletableFuture<AutoCloseable> request = new CompletableFuture<>();
            requests.add(request);
            asked.countDown();
            return request;
        }

        void admit() {
            requests.get(requests.size() - 1).complete(this::close);
        }

        private void close() {
            closed++;
        }

        @Override
        public String toString() {
            return "my quota";
        }
    }

    private AsyncPipeline pipeline(AsyncCallGuard guard) {
        return AsyncPipeline.builder(null).breaker(breaker).semaphore(guard).build();
    }

    private static AsyncCallGuard admitting(AutoCloseable held) {
        return maxWait -> CompletableFuture.completedFuture(held);
    }

    private static CompletableFuture<String> answer() {
        return CompletableFuture.completedFuture("answer");
    }

    @Test
    void call_beginsWhenItIsAdmitted_andClosesWhenItsStageHasEnded() {
        Quota limiter = new Quota();
        Quota semaphore = new Quota();
        AsyncPipeline pipeline = AsyncPipeline.builder(null)
                .limiter(limiter)
                .semaphore(semaphore)
                .build();
        CompletableFuture<String> stage = new CompletableFuture<>();
        CompletableFuture<String> call = pipeline.call(() -> stage);
        assertEquals(List.of(), semaphore.requests);
        limiter.admit();
        assertEquals(List.of(NO_LIMIT), semaphore.waits);
        assertFalse(call.isDone());
        semaphore.admit();
        assertEquals(0, semaphore.closed);
        stage.complete("answer");
        assertEquals("answer", await(call));
        assertEquals(1, semaphore.closed);
        assertEquals(1, limiter.closed);
        assertTrue(pipeline.toString().contains("(limiter = my quota, semaphore = my quota, "), pipeline.toString());
    }

    @Test
    void maxWait_isThatOfThePipeline_andAtMostWhatHasNanoseconds() {
        Quota quota = new Quota();
        AsyncPipeline.Builder builder = AsyncPipeline.builder(null).semaphore(quota);
        var first = builder.maxWait(Duration.ofMillis(200)).build().call(() -> answer());
        var second = builder.maxWait(Duration.ofDays(1_000_000)).build().call(() -> answer());
        assertEquals(List.of(Duration.ofMillis(200), NO_LIMIT), quota.waits);
        first.cancel(false);
        second.cancel(false);
    }

    @Test
    void refusal_isThatOfTheGuard_andCountsAsNothing() {
        AsyncCallGuard full =
                maxWait -> CompletableFuture.<AutoCloseable>failedFuture(new PermitTimeoutException("full"))
                        .thenApply(held -> held);
        CompletableFuture<String> call = pipeline(full).call(() -> answer());
        assertEquals(
                "full",
                assertInstanceOf(PermitTimeoutException.class, awaitFailure(call))
                        .getMessage());
        var e = assertThrows(
                PermitTimeoutException.class, () -> pipeline(full).blocking().call(() -> "answer"));
        assertEquals("full", e.getMessage());
        assertEquals(0, breaker.metrics().getCalls());
    }

    @Test
    void guardThatThrows_failsTheCall_andCounts() {
        AsyncCallGuard broken = maxWait -> {
            throw new IllegalStateException("no connection");
        };
        Throwable e = awaitFailure(pipeline(broken).call(() -> answer()));
        assertEquals("no connection", e.getMessage());
        assertThrows(
                IllegalStateException.class, () -> pipeline(broken).blocking().call(() -> "answer"));
        assertEquals(2, breaker.metrics().getCalls());
    }

    @Test
    void guardThatReturnsNull_failsTheCall() {
        Throwable e = awaitFailure(pipeline(maxWait -> null).call(() -> answer()));
        assertEquals("the guard returned null instead of a stage", e.getMessage());
        Throwable f = awaitFailure(pipeline(admitting(null)).call(() -> answer()));
        assertEquals("the guard admitted with null", f.getMessage());
        assertThrows(
                NullPointerException.class,
                () -> pipeline(admitting(null)).blocking().call(() -> "answer"));
    }

    @Test
    void closeThatFails_failsACallWithAValue_andIsSuppressedByAFailure() {
        AsyncCallGuard leaving = admitting(() -> {
            throw new IOException("not given back");
        });
        assertEquals(
                "not given back",
                awaitFailure(pipeline(leaving).call(() -> answer())).getMessage());
        Throwable e = awaitFailure(pipeline(leaving).call(() -> CompletableFuture.failedFuture(new Exception("down"))));
        assertEquals("not given back", e.getSuppressed()[0].getMessage());
        assertThrows(IOException.class, () -> pipeline(leaving).blocking().call(() -> "answer"));
        var f = assertThrows(
                LinkageError.class,
                () -> pipeline(leaving).blocking().call(() -> {
                    throw new CompletionException(new LinkageError("down"));
                }));
        assertEquals("not given back", f.getSuppressed()[0].getMessage());
    }

    @Test
    void call_cancelledWhileItWaits_neverBegins_andClosesWhatArrivesLate() {
        Quota quota = new Quota();
        CompletableFuture<String> call = pipeline(quota).call(() -> {
            throw new AssertionError();
        });
        assertTrue(call.cancel(false));
        assertFalse(quota.requests.get(0).isDone());
        quota.admit();
        assertEquals(1, quota.closed);
        assertEquals(0, breaker.metrics().getCalls());
        CompletableFuture<String> other = pipeline(quota).call(() -> answer());
        other.cancel(false);
        List<Throwable> reported = reportedBy(() -> quota.requests.get(1).complete(() -> {
            throw new IOException("not given back");
        }));
        assertEquals("not given back", reported.get(0).getMessage());
    }

    @Test
    void call_cancelledWhileItRuns_cancelsItsStage_andClosesOnce() {
        Quota quota = new Quota();
        CompletableFuture<String> stage = new CompletableFuture<>();
        CompletableFuture<String> call = pipeline(quota).call(() -> stage);
        quota.admit();
        call.cancel(false);
        assertTrue(stage.isCancelled());
        assertEquals(1, quota.closed);
    }

    @Test
    void requestOfBatonsOwn_isWithdrawnByACancellation() {
        AsyncSemaphore semaphore = AsyncSemaphore.create(1);
        AsyncPipeline pipeline = pipeline(semaphore::acquire);
        CompletableFuture<String> stage = new CompletableFuture<>();
        CompletableFuture<String> first = pipeline.call(() -> stage);
        CompletableFuture<String> second = pipeline.call(() -> answer());
        assertEquals(1, semaphore.waiting());
        second.cancel(false);
        assertEquals(0, semaphore.waiting());
        stage.complete("answer");
        assertEquals("answer", await(first));
        assertEquals(1, semaphore.availablePermits());
    }

    @Test
    void furtherAttemptOfAHedge_isToBeAdmittedNow() {
        AsyncSemaphore semaphore = AsyncSemaphore.create(1);
        CountDownLatch refused = new CountDownLatch(1);
        AsyncPipeline pipeline = AsyncPipeline.builder(null)
                .hedge(Duration.ofMillis(5), 2)
                .limiter(maxWait -> {
                    CompletableFuture<Permit> permit = semaphore.acquire(maxWait);
                    if (maxWait.isZero()) refused.countDown();
                    return permit;
                })
                .build();
        CompletableFuture<String> stage = new CompletableFuture<>();
        CompletableFuture<String> call = pipeline.call(() -> stage);
        while (refused.getCount() > 0) Thread.onSpinWait();
        stage.complete("first");
        assertEquals("first", await(call));
        assertEquals(1, semaphore.availablePermits());
    }

    @Test
    void thread_runsItsActionItself_whenItIsAdmitted() throws Exception {
        Quota quota = new Quota();
        AsyncPipeline pipeline = pipeline(quota);
        FutureTask<Thread> task = new FutureTask<>(() -> pipeline.blocking().call(Thread::currentThread));
        Thread thread = started(task);
        assertTrue(quota.asked.await(2, TimeUnit.MINUTES));
        quota.admit();
        assertSame(thread, task.get(2, TimeUnit.MINUTES));
        assertEquals(1, quota.closed);
    }

    @Test
    void thread_interruptedWhileItWaits_neverBegins_andClosesWhatArrivesLate() throws Exception {
        Quota quota = new Quota();
        AsyncPipeline pipeline = pipeline(quota);
        FutureTask<String> task = new FutureTask<>(() -> pipeline.blocking().call(() -> {
            throw new AssertionError();
        }));
        Thread thread = started(task);
        assertTrue(quota.asked.await(2, TimeUnit.MINUTES));
        thread.interrupt();
        var e = assertThrows(ExecutionException.class, () -> task.get(2, TimeUnit.MINUTES));
        assertInstanceOf(InterruptedException.class, e.getCause());
        quota.admit();
        assertEquals(1, quota.closed);
        assertEquals(0, breaker.metrics().getCalls());
        Thread.currentThread().interrupt();
        assertThrows(InterruptedException.class, () -> pipeline.blocking().call(() -> "answer"));
        assertEquals(1, quota.requests.size());
    }

    private static Thread started(Runnable task) {
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }
}
