package baton.interop.resilience;

import static baton.interop.Futures.await;
import static baton.interop.Futures.awaitFailure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncPipeline;
import baton.monitoring.CallEvent;
import baton.monitoring.CallOutcome;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Pipelines with a hedge: the races of futures and of threads. */
class AsyncHedgeTest extends PipelineFixture {
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
        semaphore.resize(1); // the permit of the first attempt will pay this debt, so none is free for the second
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
}
