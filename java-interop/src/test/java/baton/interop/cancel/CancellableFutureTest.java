package baton.interop.cancel;

import static baton.interop.Futures.failure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncSemaphore;
import baton.interop.CancellableFunction;
import baton.interop.CancellableFuture;
import baton.interop.Futures;
import baton.interop.Futures.Steps;
import baton.interop.Permit;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** {@code supply}, {@code run} and {@code of}; futures whose work is cancelled; stages. */
class CancellableFutureTest {
    private final Steps steps = new Steps();
    private final List<String> seen = new ArrayList<>();

    @Test
    void supply_asInTheUsage_compilesAndRuns() {
        Executor executor = steps;
        CancellableFuture<Integer> task = CancellableFuture.supply(executor, token -> {
            token.onCancel(() -> {});
            return 42;
        });
        task.thenApply(String::valueOf).cancel(true);
        assertTrue(task.isCancelled());
    }

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

    static Stream<Arguments> nulls() {
        CancellableFuture<String> future = CancellableFuture.of(new CompletableFuture<>());
        return Stream.of(
                call("executor", () -> CancellableFuture.supply(null, token -> "")),
                call("function", () -> CancellableFuture.supply(Runnable::run, null)),
                call("executor", () -> CancellableFuture.run(null, token -> {})),
                call("action", () -> CancellableFuture.run(Runnable::run, null)),
                call("stage", () -> CancellableFuture.of(null)),
                call("reason", () -> future.cancel(null)),
                call("cause", () -> future.completeExceptionally(null)),
                call("cause", () -> future.obtrudeException(null)),
                call("supplier", () -> future.completeAsync(null)),
                call("executor", () -> future.completeAsync(() -> "", null)),
                call("timeout", () -> future.orTimeout(null)),
                call("function", () -> future.thenCompose(null)));
    }

    private static Arguments call(String argument, Executable call) {
        return Arguments.of(argument, call);
    }

    @ParameterizedTest
    @MethodSource("nulls")
    void null_asAnArgument_isRefusedByName(String argument, Executable call) {
        assertEquals(argument, assertThrows(NullPointerException.class, call).getMessage());
    }
}
