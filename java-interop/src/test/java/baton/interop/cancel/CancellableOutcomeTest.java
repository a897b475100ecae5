package baton.interop.cancel;

import static baton.interop.Futures.await;
import static baton.interop.Futures.awaitFailure;
import static baton.interop.Futures.failure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.CancellableFunction;
import baton.interop.CancellableFuture;
import baton.interop.Futures;
import baton.interop.Futures.Steps;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** A {@link CancellableFuture} that is completed from outside while its function runs. */
class CancellableOutcomeTest {
    private final Steps steps = new Steps();
    private final List<String> seen = new ArrayList<>();

    private CancellableFuture<String> queued(CancellableFunction<String> function) {
        return CancellableFuture.supply(steps, function);
    }

    /** Ends a future in the given way while its function runs. */
    private CancellableFuture<String> endedWhileItRuns(Consumer<CancellableFuture<String>> end) {
        List<CancellableFuture<String>> futures = new ArrayList<>();
        futures.add(queued(token -> {
            CancellableFuture<String> future = futures.get(0);
            token.onCancel(() -> seen.add("first"));
            token.onCancel(() -> seen.add("second"));
            assertFalse(token.isCancelled());
            assertNull(token.reason());
            token.throwIfCancelled();
            end.accept(future);
            seen.add("told " + token.isCancelled() + " " + future.isDone());
            token.onCancel(() -> seen.add("third"));
            assertFalse(future.terminated().isDone());
            CancellationException e = assertThrows(CancellationException.class, token::throwIfCancelled);
            assertSame(token.reason(), e.getCause());
            throw e;
        }));
        steps.runAll();
        assertEquals(List.of("second", "first", "told true true", "third"), seen);
        assertTrue(futures.get(0).terminated().isDone());
        return futures.get(0);
    }

    @Test
    void complete_whileItRuns_endsTheWorkWithThatValue() {
        assertEquals(
                "given", endedWhileItRuns(f -> assertTrue(f.complete("given"))).join());
    }

    @Test
    void completeExceptionally_whileItRuns_endsTheWorkWithThatFailure() {
        IOException e = new IOException("given");
        assertSame(e, failure(endedWhileItRuns(f -> assertTrue(f.completeExceptionally(e)))));
    }

    @Test
    void obtrude_whileItRuns_endsTheWork() {
        assertEquals("given", endedWhileItRuns(f -> f.obtrudeValue("given")).join());
        seen.clear();
        IOException e = new IOException("given");
        assertSame(e, failure(endedWhileItRuns(f -> f.obtrudeException(e))));
    }

    @Test
    void completeAsync_whileItRuns_endsTheWork() {
        assertEquals(
                "given",
                endedWhileItRuns(f -> f.completeAsync(() -> "given", Runnable::run))
                        .join());
        seen.clear();
        IllegalStateException e = new IllegalStateException("given");
        CancellableFuture<String> failed = endedWhileItRuns(f -> f.completeAsync(
                () -> {
                    throw e;
                },
                Runnable::run));
        assertSame(
                e, assertInstanceOf(CompletionException.class, failure(failed)).getCause());
    }

    @Test
    void orTimeout_ofZeroWhileItRuns_endsTheWork() {
        assertInstanceOf(TimeoutException.class, failure(endedWhileItRuns(f -> f.orTimeout(Duration.ZERO))));
        seen.clear();
        assertEquals(
                "late",
                endedWhileItRuns(f -> f.completeOnTimeout("late", 0, TimeUnit.DAYS))
                        .join());
    }

    @Test
    void orTimeout_afterTheTimeout_endsTheWork() {
        CancellableFuture<String> first = queued(token -> "");
        var e = assertInstanceOf(TimeoutException.class, awaitFailure(first.orTimeout(Duration.ofMillis(1))));
        assertEquals("not done within PT0.001S", e.getMessage());
        await(first.terminated());
        CancellableFuture<String> second = queued(token -> "");
        assertInstanceOf(TimeoutException.class, awaitFailure(second.orTimeout(1, TimeUnit.NANOSECONDS)));
        CancellableFuture<String> third = queued(token -> "");
        assertEquals("late", await(third.completeOnTimeout("late", 1, TimeUnit.MILLISECONDS)));
        CancellableFuture<String> patient = queued(token -> "in time").orTimeout(Duration.ofSeconds(Long.MAX_VALUE));
        steps.runAll();
        assertEquals("in time", patient.join());
        assertEquals("in time", patient.orTimeout(Long.MIN_VALUE, TimeUnit.DAYS).join());
    }

    @Test
    void orTimeout_negative_isNowOrNotAtAll() {
        for (Duration timeout : List.of(Duration.ofNanos(-1), Duration.ofSeconds(Long.MIN_VALUE))) {
            Throwable e = Futures.failure(queued(token -> "").orTimeout(timeout));
            assertTrue(e instanceof TimeoutException && e.getMessage().contains("" + timeout), e::toString);
            assertEquals(
                    "",
                    CancellableFuture.of(CompletableFuture.completedFuture(""))
                            .orTimeout(timeout)
                            .join());
        }
    }
}
