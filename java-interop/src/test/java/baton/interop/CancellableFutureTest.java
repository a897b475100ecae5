package baton.interop;

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

import baton.interop.Futures.Steps;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Supply, run and of; the token and its teardowns; outcomes from outside. */
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

    /** Runs the function at once; what it does there, the test says. */
    private CancellableFuture<String> now(CancellableFunction<String> function) {
        return CancellableFuture.supply(Runnable::run, function);
    }

    private CancellableFuture<String> queued(CancellableFunction<String> function) {
        return CancellableFuture.supply(steps, function);
    }

    /** While its function runs, ends its future in this way. */
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
        assertSame(e, failure(failed));
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
    void orTimeout_whenTheTimeIsOver_endsTheWork() {
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
    void orTimeout_negative_isRefused() {
        CancellableFuture<String> future = queued(token -> "");
        for (Duration timeout : List.of(Duration.ofNanos(-1), Duration.ofSeconds(Long.MIN_VALUE))) {
            var e = assertThrows(IllegalArgumentException.class, () -> future.orTimeout(timeout));
            assertTrue(e.getMessage().contains("timeout = " + timeout), e.getMessage());
        }
        assertFalse(future.isDone());
    }

    @Test
    void teardown_ofOneThatSucceeds_neverRuns() {
        CancellationToken[] leaked = new CancellationToken[1];
        CancellableFuture<String> future = now(token -> {
            leaked[0] = token;
            token.onCancel(() -> seen.add("torn down"));
            return "value";
        });
        assertFalse(future.cancel(true) || future.complete("other") || future.completeExceptionally(new Exception()));
        leaked[0].onCancel(() -> seen.add("late"));
        future.obtrudeValue("obtruded");
        assertEquals("obtruded", future.join());
        assertEquals(List.of(), seen);
        assertFalse(leaked[0].isCancelled());
        assertEquals("CancellationToken (ended)", leaked[0].toString());
    }

    @Test
    void teardown_ofOneThatFails_runsBeforeItIsDone() {
        List<CancellableFuture<String>> futures = new ArrayList<>();
        CancellationToken[] leaked = new CancellationToken[1];
        IllegalStateException e = new IllegalStateException("function");
        IllegalStateException torn = new IllegalStateException("teardown");
        futures.add(queued(token -> {
            leaked[0] = token;
            token.onCancel(() -> seen.add("done " + futures.get(0).isDone()));
            token.onCancel(() -> {
                throw torn;
            });
            throw e;
        }));
        steps.runAll();
        assertSame(e, failure(futures.get(0)));
        assertEquals(List.of(torn), Arrays.asList(e.getSuppressed()));
        assertEquals(List.of("done false"), seen);
        assertFalse(leaked[0].isCancelled());
        leaked[0].onCancel(() -> seen.add("late"));
        assertEquals(List.of("done false", "late"), seen);
    }

    @Test
    void teardown_thatThrows_isAttachedToTheCancellationAndStopsNoOther() {
        IllegalStateException one = new IllegalStateException("one");
        Error two = new AssertionError("two");
        IOException after = new IOException("function, after its connection was closed");
        List<CancellableFuture<String>> futures = new ArrayList<>();
        futures.add(queued(token -> {
            token.onCancel(() -> {
                throw one;
            });
            token.onCancel(() -> seen.add("between"));
            token.onCancel(() -> {
                throw two;
            });
            futures.get(0).thenApply(x -> x).cancel(true);
            throw after;
        }));
        steps.runAll();
        CancellationException e = assertInstanceOf(CancellationException.class, failure(futures.get(0)));
        assertEquals(List.of(two, one, after), Arrays.asList(e.getSuppressed()));
        assertEquals(List.of("between"), seen);
    }

    @Test
    void teardown_thatThrowsAfterACompletionFromOutside_goesToTheHandler() {
        Thread.UncaughtExceptionHandler before = Thread.currentThread().getUncaughtExceptionHandler();
        IllegalStateException torn = new IllegalStateException("teardown");
        List<Throwable> heard = new ArrayList<>();
        Thread.currentThread().setUncaughtExceptionHandler((thread, e) -> heard.add(e));
        try {
            List<CancellableFuture<String>> futures = new ArrayList<>();
            futures.add(queued(token -> {
                token.onCancel(() -> {
                    throw torn;
                });
                futures.get(0).complete("given");
                throw new IOException("nobody asks any more");
            }));
            steps.runAll();
            assertEquals("given", futures.get(0).join());
        } finally {
            Thread.currentThread().setUncaughtExceptionHandler(before);
        }
        assertEquals(List.of(torn), heard);
    }

    @Test
    void teardown_thatThrowsToAHandlerThatThrows_stopsNoOther() {
        Thread.UncaughtExceptionHandler before = Thread.currentThread().getUncaughtExceptionHandler();
        Thread.currentThread().setUncaughtExceptionHandler((thread, e) -> {
            throw new IllegalStateException(e);
        });
        try {
            List<CancellableFuture<String>> futures = new ArrayList<>();
            futures.add(queued(token -> {
                token.onCancel(() -> seen.add("first registered"));
                token.onCancel(() -> {
                    throw new IllegalStateException("teardown");
                });
                futures.get(0).complete("given");
                return "too late";
            }));
            steps.runAll();
            assertEquals("given", futures.get(0).join());
        } finally {
            Thread.currentThread().setUncaughtExceptionHandler(before);
        }
        assertEquals(List.of("first registered"), seen);
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
    void interruptible_cancelledFromOutside_isInterruptedOnlyWhileItRuns() throws Exception {
        CompletableFuture<Thread> runs = new CompletableFuture<>();
        CompletableFuture<Boolean> flag = new CompletableFuture<>();
        CancellableFuture<String> future = CancellableFuture.supply(
                task -> new Thread(() -> {
                            task.run();
                            flag.complete(Thread.currentThread().isInterrupted());
                        })
                        .start(),
                token -> {
                    token.interruptible();
                    token.interruptible();
                    runs.complete(Thread.currentThread());
                    new CompletableFuture<String>().get();
                    return "never";
                });
        await(runs);
        assertTrue(future.cancel(false));
        await(future.terminated());
        assertFalse(await(flag));
        assertEquals(0, failure(future).getSuppressed().length);
    }

    @Test
    void interruptible_thatDoesNotNotice_leavesNoInterruptBehind() {
        List<CancellableFuture<String>> futures = new ArrayList<>();
        futures.add(queued(token -> {
            token.interruptible();
            futures.get(0).cancel(true);
            seen.add("" + Thread.currentThread().isInterrupted());
            return "";
        }));
        futures.add(queued(token -> {
            futures.get(1).cancel(true);
            seen.add("" + Thread.currentThread().isInterrupted());
            token.interruptible();
            seen.add("" + Thread.currentThread().isInterrupted());
            return "";
        }));
        steps.runAll();
        assertEquals(List.of("true", "false", "true"), seen);
        assertFalse(Thread.currentThread().isInterrupted());
    }

    @Test
    void interrupt_thatIsNotOurs_stays() {
        now(token -> {
            token.interruptible();
            Thread.currentThread().interrupt();
            return "";
        });
        assertTrue(Thread.interrupted());
    }

    @Test
    void interruptible_fromElsewhere_isRefused() throws Exception {
        CancellationToken[] leaked = new CancellationToken[1];
        now(token -> {
            leaked[0] = token;
            return "";
        });
        assertThrows(IllegalStateException.class, leaked[0]::interruptible);
        now(token -> {
            CompletableFuture<Void> there = CompletableFuture.runAsync(token::interruptible);
            assertInstanceOf(IllegalStateException.class, awaitFailure(there).getCause());
            return "";
        });
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

    @Test
    void token_toString_saysItsState() {
        CancellationToken[] leaked = new CancellationToken[1];
        List<CancellableFuture<String>> futures = new ArrayList<>();
        futures.add(queued(token -> {
            leaked[0] = token;
            seen.add(token.toString());
            futures.get(0).cancel(new IOException("why"));
            return "";
        }));
        steps.runAll();
        assertEquals(List.of("CancellationToken (active)"), seen);
        assertEquals("CancellationToken (cancelled: java.io.IOException: why)", leaked[0].toString());
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

    @Test
    void onCancel_null_isRefusedByName() {
        CancellableFuture<String> future = now(token -> {
            token.onCancel(null);
            return "";
        });
        assertEquals(
                "teardown",
                assertInstanceOf(NullPointerException.class, failure(future)).getMessage());
        assertThrows(CompletionException.class, future::join);
    }
}
