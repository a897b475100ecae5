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

import baton.bridge.Durations;
import baton.interop.AsyncSemaphore;
import baton.interop.CancellableFunction;
import baton.interop.CancellableFuture;
import baton.interop.Futures;
import baton.interop.Futures.Steps;
import baton.interop.Permit;
import baton.interop.futures.Ender;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** {@code supply}, {@code run} and {@code of}; futures whose work is cancelled; stages. */
class CancellableFutureTest {
    private final Steps steps = new Steps();
    private final List<String> seen = new ArrayList<>();

    @Test
    void supply_endsWithItsValueOrFailureOnItsExecutor() {
        CancellableFuture<Integer> value = CancellableFuture.supply(steps, token -> 42);
        CancellableFuture<Void> nothing = CancellableFuture.run(steps, token -> seen.add("ran"));
        CancellableFuture<Void> failing = CancellableFuture.run(steps, token -> {
            throw new IOException("checked");
        });
        assertFalse(value.isDone() || value.terminated().isDone());
        steps.runAll();
        assertEquals(42, value.join());
        assertNull(nothing.join());
        assertInstanceOf(IOException.class, failure(failing));
        assertEquals(List.of("ran"), seen);
        assertTrue(value.terminated().isDone() && failing.terminated().isDone());
    }

    @Test
    void supply_rejectedByItsExecutor_arrivesInTheFuture() {
        CancellableFuture<Integer> rejected = CancellableFuture.supply(Futures.REJECTING, token -> 42);
        assertInstanceOf(RejectedExecutionException.class, failure(rejected));
        assertTrue(rejected.terminated().isDone());
        CancellableFuture<Integer> ran = CancellableFuture.supply(
                task -> {
                    task.run();
                    throw new RejectedExecutionException("after all");
                },
                token -> 42);
        assertEquals(42, ran.join());
    }

    @Test
    void cancel_beforeItHasBegun_neverBeginsAndLetsGoOfTheFunction() {
        Object[] captured = {new Object()};
        WeakReference<Object> reference = new WeakReference<>(captured[0]);
        CancellableFuture<Integer> future = supplyHolding(captured[0]);
        captured[0] = null;
        assertTrue(future.cancel(false));
        assertTrue(future.terminated().isDone());
        assertEquals(1, steps.size());
        for (int i = 0; i < 200 && !reference.refersTo(null); i++) System.gc();
        assertTrue(reference.refersTo(null), "the executor still has the task, but not the function");
        steps.runAll();
        assertEquals(List.of(), seen);
    }

    private CancellableFuture<Integer> supplyHolding(Object object) {
        return CancellableFuture.supply(steps, token -> {
            seen.add("began with " + object);
            return 1;
        });
    }

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
    void cancel_whileItRuns_tearsDownTheLastFirstAndIsSeenAtOnce() {
        CancellableFuture<String> future = endedWhileItRuns(f -> assertTrue(f.cancel(true)));
        assertTrue(future.isCancelled());
        assertEquals(0, failure(future).getSuppressed().length);
    }

    @Test
    void cancel_withAReason_hasItAsItsCause() {
        IOException reason = new IOException("why");
        CancellableFuture<String> future = endedWhileItRuns(f -> assertTrue(f.cancel(reason)));
        assertSame(reason, failure(future).getCause());
        assertEquals("java.io.IOException: why", failure(future).getMessage());
        CancellationException own = new CancellationException("own");
        CancellableFuture<String> other = queued(token -> "");
        other.cancel(own);
        assertSame(own, failure(other).getCause());
    }

    @Test
    void cancel_ofAStageOfOneThatRuns_isTerminatedWithIt() {
        List<CancellableFuture<String>> futures = new ArrayList<>();
        futures.add(queued(token -> {
            CancellableFuture<Integer> derived =
                    futures.get(0).thenApply(x -> x).thenApply(String::length);
            CompletableFuture<Void> asked = derived.terminated();
            derived.cancel(true);
            assertTrue(futures.get(0).isCancelled());
            assertFalse(asked.isDone() || derived.terminated().isDone());
            asked.thenRun(() -> seen.add("terminated"));
            seen.add("ends");
            return "too late";
        }));
        steps.runAll();
        assertEquals(List.of("ends", "terminated"), seen);
    }

    @Test
    void terminated_completedByOthers_changesNothing() {
        CancellableFuture<String> future = queued(token -> "value");
        assertTrue(future.terminated().complete(null));
        assertFalse(future.terminated().isDone());
        CompletableFuture<Void> ofAStage = future.thenApply(x -> x).terminated();
        steps.runAll();
        assertTrue(future.terminated().isDone() && ofAStage.isDone());
    }

    @Test
    void of_aStage_completesAsThatDoesWithoutItsWrapper() {
        CompletableFuture<String> stage = new CompletableFuture<>();
        CancellableFuture<String> future = CancellableFuture.of(stage);
        CancellableFuture<String> failing = CancellableFuture.of(stage.thenApply(x -> {
            throw new IllegalStateException(x);
        }));
        stage.complete("value");
        assertEquals("value", future.join());
        assertInstanceOf(IllegalStateException.class, failure(failing));
        assertTrue(future.terminated().isDone());
        assertSame(future, CancellableFuture.of(future));
    }

    @Test
    void of_aStageThatCannotBeCancelled_terminatesWhenItEnds() {
        CompletableFuture<String> source = new CompletableFuture<>();
        CancellableFuture<String> future = CancellableFuture.of(source.minimalCompletionStage());
        assertTrue(future.cancel(true));
        assertTrue(future.isDone());
        assertFalse(future.terminated().isDone());
        source.complete("too late");
        assertTrue(future.terminated().isDone());
        assertTrue(future.isCancelled());
    }

    @Test
    void of_anAcquire_withdrawsItWhenAStageIsCancelled() {
        AsyncSemaphore semaphore = AsyncSemaphore.create(1);
        Permit permit = semaphore.acquire().join();
        CancellableFuture<Permit> waits = CancellableFuture.of(semaphore.acquire());
        CancellableFuture<String> composed = CancellableFuture.of(CompletableFuture.completedFuture(1))
                .thenCompose(x -> semaphore.withPermit(() -> CompletableFuture.completedFuture("")));
        assertEquals(2, semaphore.waiting());
        waits.thenApply(Permit::isHeld).cancel(true);
        composed.thenApply(String::length).cancel(true);
        assertEquals(0, semaphore.waiting());
        permit.close();
    }

    /** Without those that another thread ends: it may run the teardowns after the future is seen as done. */
    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {"OR_TIMEOUT", "COMPLETE_ON_TIMEOUT", "COMPLETE_ASYNC", "COMPLETE_ASYNC_FAILING"})
    void future_endedWhileItRuns_tearsDownAndKeepsThatOutcome(Ender ender) {
        CancellableFuture<String> future = endedWhileItRuns(ender::end);
        assertEquals(ender.isCancel(), future.isCancelled());
        if (ender.failure == null) assertEquals("outside", future.join());
        else assertInstanceOf(ender.failure, failure(future));
    }

    @Test
    void orTimeout_ofZeroWhileItRuns_endsTheWork() {
        assertInstanceOf(TimeoutException.class, failure(endedWhileItRuns(f -> f.orTimeout(Duration.ZERO))));
        seen.clear();
        assertEquals(
                "late",
                endedWhileItRuns(f -> f.completeOnTimeout("late", 0, TimeUnit.DAYS))
                        .join());
        seen.clear();
        CancellableFuture<String> failed = endedWhileItRuns(f -> f.completeAsync(
                () -> {
                    throw new IllegalStateException("given");
                },
                Runnable::run));
        assertInstanceOf(IllegalStateException.class, failure(failed).getCause());
    }

    @Test
    void orTimeout_afterTheTimeout_endsTheWork() {
        CancellableFuture<String> first = queued(token -> "");
        var e = assertInstanceOf(TimeoutException.class, awaitFailure(first.orTimeout(Duration.ofMillis(1))));
        assertEquals("not done within 1ms", e.getMessage());
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
            assertTrue(
                    e instanceof TimeoutException && e.getMessage().contains(Durations.textOf(timeout)), e::toString);
            assertEquals(
                    "",
                    CancellableFuture.of(CompletableFuture.completedFuture(""))
                            .orTimeout(timeout)
                            .join());
        }
    }

    /** The statics of CompletableFuture, called by this class's name, give futures of this class. */
    @Test
    void statics_ofCompletableFuture_areHidden() {
        CancellableFuture<Integer> supplied =
                CancellableFuture.supplyAsync(() -> 1).thenApply(n -> n + 1);
        assertEquals(2, await(supplied));
        assertEquals(3, CancellableFuture.supplyAsync(() -> 3, Runnable::run).join());
        int[] runs = {0};
        CancellableFuture<Void> run = CancellableFuture.runAsync(() -> runs[0]++, Runnable::run);
        assertTrue(run.isDone());
        await(CancellableFuture.runAsync(() -> runs[0]++).handle((value, e) -> true));
        assertEquals(2, runs[0]);
        assertEquals("value", CancellableFuture.completedFuture("value").join());
        IllegalStateException failure = new IllegalStateException();
        CancellableFuture<String> failed = CancellableFuture.failedFuture(failure);
        assertSame(failure, failure(failed));
        Steps pool = new Steps();
        CancellableFuture<Integer> dropped = CancellableFuture.supplyAsync(() -> runs[0]++, pool);
        dropped.cancel(false);
        pool.runAll();
        assertEquals(2, runs[0]);
    }
}
