package baton.interop.futures;

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

import baton.interop.AsyncSemaphore;
import baton.interop.Futures;
import baton.interop.Futures.Steps;
import baton.interop.Permit;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Actions that hold a permit or a lock until their stage has ended. */
class ScopedActionTest {
    private final Steps steps = new Steps();
    private final CompletableFuture<Object> stage = new CompletableFuture<>();
    private int runs;
    private final Supplier<CompletionStage<Object>> action = () -> {
        runs++;
        return stage;
    };

    static Stream<Arguments> cells() {
        return Arrays.stream(Scope.values())
                .flatMap(scope -> Arrays.stream(Ender.values()).map(ender -> Arguments.of(scope, ender)));
    }

    /** A stage whose {@code toCompletableFuture} throws. */
    private static final class PlainStage extends CompletableFuture<Object> {
        private final RuntimeException refusal;

        PlainStage(RuntimeException refusal) {
            this.refusal = refusal;
        }

        @Override
        public CompletableFuture<Object> toCompletableFuture() {
            throw refusal;
        }
    }

    @ParameterizedTest
    @EnumSource
    void action_isInsideUntilItsStageHasEnded(Scope scope) {
        Scope.Guard guard = scope.create();
        CompletableFuture<Object> call = guard.with(action);
        CompletableFuture<Boolean> seen = call.thenApply(value -> guard.isHeld());
        assertTrue(guard.isHeld() && guard.isOwned.getAsBoolean() && !call.isDone());
        assertEquals(1, runs);
        stage.complete("in");
        assertEquals("in", call.join());
        assertFalse(seen.join());
        assertNull(guard.with(() -> CompletableFuture.completedFuture(null)).join());
    }

    @ParameterizedTest
    @EnumSource
    void action_withExecutor_runsThereInItsTurnAndHoldsMeanwhile(Scope scope) {
        Scope.Guard guard = scope.create();
        Permit other = guard.other().join();
        CompletableFuture<Object> call = guard.with(action, steps);
        CompletableFuture<? extends Permit> behind = guard.other();
        assertEquals("0 2", steps.size() + " " + guard.waiting());
        other.close();
        assertEquals("1 1", steps.size() + " " + guard.waiting());
        assertTrue(guard.isHeld() && guard.isOwned.getAsBoolean());
        assertEquals(0, runs);
        steps.runAll();
        assertEquals(1, runs);
        stage.complete("in");
        assertEquals("in", call.join());
        behind.join().close();
        CompletableFuture<Object> free = guard.with(() -> CompletableFuture.completedFuture("now"), steps);
        assertTrue(guard.isHeld() && !free.isDone());
        steps.runAll();
        assertEquals("now", free.join());
        assertFalse(guard.isHeld());
    }

    @ParameterizedTest
    @EnumSource
    void action_thatFailsInAnyWay_failsTheCallWithThatAndReleases(Scope scope) {
        Scope.Guard guard = scope.create();
        for (Throwable thrown :
                List.of(new IllegalStateException("no"), new StackOverflowError("deep"), new AssertionError("x"))) {
            assertSame(thrown, failure(guard.with(() -> sneak(thrown))));
            assertFalse(guard.isHeld());
        }
        assertInstanceOf(NullPointerException.class, failure(guard.with(() -> null)));
        Exception cause = new Exception("checked");
        CompletableFuture<Object> failed = CompletableFuture.failedFuture(cause);
        assertSame(cause, failure(guard.with(() -> failed)));
        assertSame(cause, failure(guard.with(() -> failed.thenApply(x -> x))), "without its wrapper");
        CompletionException bare = new CompletionException("no cause", null);
        assertSame(bare, failure(guard.with(() -> CompletableFuture.failedFuture(bare))));
        IllegalStateException odd = new IllegalStateException("odd");
        CompletableFuture<Object> deaf = new CompletableFuture<>() {
            @Override
            public CompletableFuture<Object> whenComplete(BiConsumer<? super Object, ? super Throwable> listener) {
                throw odd;
            }
        };
        assertSame(odd, failure(guard.with(() -> deaf)));
        CompletableFuture<Object> direct = guard.with(() -> stage);
        stage.cancel(true);
        assertTrue(direct.isCancelled());
        assertTrue(guard.with(() -> stage.thenApply(x -> x)).isCancelled());
        assertFalse(guard.isHeld());
    }

    @ParameterizedTest
    @EnumSource
    void executor_thatRejects_failsTheCallAndReleases(Scope scope) {
        Scope.Guard guard = scope.create();
        assertInstanceOf(RejectedExecutionException.class, failure(guard.with(action, Futures.REJECTING)));
        Permit other = guard.other().join();
        CompletableFuture<Object> later = guard.with(action, Futures.REJECTING);
        other.close();
        assertInstanceOf(RejectedExecutionException.class, failure(later));
        assertEquals(0, runs);
        assertFalse(guard.isHeld());
    }

    private static void assertEnded(CompletableFuture<Object> call, Ender ender) {
        if (ender.failure == null) assertEquals(Ender.Outside.VALUE, await(call));
        else assertInstanceOf(ender.failure, awaitFailure(call));
        assertEquals(ender.isCancel(), call.isCancelled());
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("cells")
    void call_endedWhileItWaits_neverRunsAndHoldsNothing(Scope scope, Ender ender) {
        for (Executor executor : new Executor[] {null, Runnable::run, steps}) {
            Scope.Guard guard = scope.create();
            Permit other = guard.other().join();
            CompletableFuture<Object> call = guard.with(action, executor);
            CompletableFuture<Integer> seen = call.handle((value, e) -> guard.waiting());
            assertEquals(1, guard.waiting());
            ender.end(call);
            assertEquals(0, await(seen), "the request is in the queue after the future is done");
            assertEnded(call, ender);
            other.close();
            steps.runAll();
            assertEquals(0, runs);
            assertFalse(guard.isHeld());
        }
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("cells")
    void call_endedWhileItsActionWaitsForTheExecutor_neverRunsAndReleasesAtOnce(Scope scope, Ender ender) {
        Scope.Guard guard = scope.create();
        CompletableFuture<Object> call = guard.with(action, steps);
        assertTrue(guard.isHeld());
        CompletableFuture<Boolean> seen = call.handle((value, e) -> guard.isHeld());
        ender.end(call);
        assertFalse(await(seen));
        assertEnded(call, ender);
        steps.runAll();
        assertEquals(0, runs);
        assertFalse(guard.isHeld());
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("cells")
    void call_endedWhileTheActionRuns_releasesWhenTheStageHasEnded(Scope scope, Ender ender) {
        Scope.Guard guard = scope.create();
        PlainStage plain = new PlainStage(new UnsupportedOperationException());
        CompletableFuture<Object> call = guard.with(() -> plain);
        ender.end(call);
        assertEnded(call, ender);
        assertTrue(guard.isHeld());
        plain.complete("in");
        assertFalse(guard.isHeld());
        assertEnded(call, ender);
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("cells")
    void call_endedWhenDone_keepsItsResultUnlessObtruded(Scope scope, Ender ender) {
        Scope.Guard guard = scope.create();
        CompletableFuture<Object> call = guard.with(() -> CompletableFuture.completedFuture("in"));
        ender.end(call);
        if (ender.obtrudes()) assertEnded(call, ender);
        else assertEquals("in", call.join());
        assertFalse(guard.isHeld());
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("cells")
    void call_endedWhileTheActionRuns_cancelsItsStage(Scope scope, Ender ender) {
        Scope.Guard guard = scope.create();
        CompletableFuture<Boolean> cancels = new CompletableFuture<>();
        CompletableFuture<Object> stubborn = new CompletableFuture<>() {
            @Override
            public boolean cancel(boolean mayInterruptIfRunning) {
                assertTrue(cancels.complete(true), "cancelled twice");
                return false;
            }
        };
        CompletableFuture<Object> call = guard.with(() -> stubborn);
        ender.end(call);
        assertTrue(await(cancels));
        assertTrue(call.isDone() && guard.isHeld());
        stubborn.complete("late");
        assertFalse(guard.isHeld());
        var next = guard.with(action);
        ender.end(next);
        assertInstanceOf(CancellationException.class, awaitFailure(stage));
        await(guard.other()).close();
        assertFalse(guard.isHeld());
    }

    static Stream<RuntimeException> refusals() {
        return Stream.of(new UnsupportedOperationException("plain"), new IllegalStateException("odd"));
    }

    @ParameterizedTest
    @MethodSource("refusals")
    void stage_thatIsNoFuture_keepsThePermitUntilItEnds(RuntimeException refusal) {
        AsyncSemaphore semaphore = AsyncSemaphore.create(1);
        Permit permit = semaphore.acquire().join();
        PlainStage plain = new PlainStage(refusal);
        CompletableFuture<CompletableFuture<Object>> self = new CompletableFuture<>();
        CompletableFuture<Object> call = semaphore.withPermit(() -> {
            self.join().cancel(true);
            return plain;
        });
        self.complete(call);
        permit.close();
        assertTrue(call.isCancelled());
        assertEquals(0, semaphore.availablePermits());
        plain.complete("x");
        assertEquals(1, semaphore.availablePermits());
    }

    @ParameterizedTest
    @EnumSource
    void permit_releasedByOtherCode_endsTheCallAllTheSame(Scope scope) {
        Scope.Guard guard = scope.create();
        CompletableFuture<Object> call = guard.with(action);
        guard.releaseByOtherCode.run();
        stage.complete("in");
        assertInstanceOf(IllegalStateException.class, failure(call));
        CompletableFuture<Object> cancelled = guard.with(action, steps);
        guard.releaseByOtherCode.run();
        assertThrows(IllegalStateException.class, () -> cancelled.cancel(false));
        assertTrue(cancelled.isCancelled());
        steps.runAll();
        assertEquals(1, runs);
        assertFalse(guard.isHeld());
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <T, E extends Throwable> T sneak(Throwable e) throws E {
        throw (E) e;
    }
}
