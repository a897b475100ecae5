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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class WithPermitTest {
    private final AsyncSemaphore semaphore = AsyncSemaphore.create(1);
    private final List<String> log = new ArrayList<>();

    private Supplier<CompletionStage<String>> action(CompletionStage<String> stage) {
        return () -> {
            log.add("ran");
            return stage;
        };
    }

    @Test
    void withPermit_holdsThePermitUntilTheStageHasEnded() {
        CompletableFuture<String> stage = new CompletableFuture<>();
        CompletableFuture<String> call = semaphore.withPermit(action(stage));
        assertEquals(List.of("ran"), log);
        assertEquals(0, semaphore.availablePermits());
        assertFalse(call.isDone());
        CompletableFuture<Integer> seen = call.thenApply(x -> semaphore.availablePermits());
        stage.complete("x");
        assertEquals("x", call.join());
        assertEquals(1, seen.join());
    }

    @Test
    void withPermits_takesSeveral() {
        AsyncSemaphore three = AsyncSemaphore.create(3);
        CompletableFuture<String> stage = new CompletableFuture<>();
        CompletableFuture<String> call = three.withPermits(2, action(stage));
        assertEquals(1, three.availablePermits());
        stage.complete(null);
        assertNull(call.join());
        assertEquals(3, three.availablePermits());
    }

    @Test
    void action_thatThrows_failsTheFutureWithThatAndGivesBack() {
        for (Throwable thrown :
                List.of(new IllegalStateException("no"), new StackOverflowError("deep"), new AssertionError("x"))) {
            CompletableFuture<String> call = semaphore.withPermit(() -> sneak(thrown));
            assertSame(thrown, failure(call));
            assertEquals(1, semaphore.availablePermits());
        }
    }

    @Test
    void action_thatReturnsNull_failsTheFutureAndReleases() {
        assertInstanceOf(NullPointerException.class, failure(semaphore.withPermit(() -> null)));
        assertEquals(1, semaphore.availablePermits());
    }

    @Test
    void stage_thatFails_failsTheFutureWithTheCauseItself() {
        Exception cause = new Exception("checked");
        assertSame(cause, failure(semaphore.withPermit(() -> CompletableFuture.failedFuture(cause))));
        CompletableFuture<String> failed = CompletableFuture.failedFuture(cause);
        CompletableFuture<String> derived = failed.thenApply(x -> x);
        assertInstanceOf(CompletionException.class, failure(derived));
        assertSame(cause, failure(semaphore.withPermit(() -> derived)));
        CompletionException bare = new CompletionException("no cause", null);
        assertSame(bare, failure(semaphore.withPermit(() -> CompletableFuture.failedFuture(bare))));
        assertEquals(1, semaphore.availablePermits());
    }

    @Test
    void stage_thatIsCancelled_cancelsTheFuture() {
        CompletableFuture<String> stage = new CompletableFuture<>();
        CompletableFuture<String> direct = semaphore.withPermit(() -> stage);
        CompletableFuture<String> derived = semaphore.withPermit(() -> stage.thenApply(x -> x));
        stage.cancel(true);
        assertTrue(direct.isCancelled());
        assertTrue(derived.isCancelled());
        assertEquals(1, semaphore.availablePermits());
    }

    /** A stage whose {@code toCompletableFuture} throws. */
    private static final class PlainStage extends CompletableFuture<String> {
        private final RuntimeException refusal;

        PlainStage(RuntimeException refusal) {
            this.refusal = refusal;
        }

        @Override
        public CompletableFuture<String> toCompletableFuture() {
            throw refusal;
        }
    }

    static Stream<RuntimeException> refusals() {
        return Stream.of(new UnsupportedOperationException("plain"), new IllegalStateException("odd"));
    }

    @ParameterizedTest
    @MethodSource("refusals")
    void stage_thatIsNoFuture_runsOnWhenTheCallIsCancelled(RuntimeException refusal) {
        PlainStage stage = new PlainStage(refusal);
        CompletableFuture<String> call = semaphore.withPermit(() -> stage);
        assertTrue(call.cancel(true));
        assertTrue(call.isCancelled());
        assertFalse(stage.isDone());
        assertEquals(0, semaphore.availablePermits());
        stage.complete("x");
        assertEquals(1, semaphore.availablePermits());
    }

    @ParameterizedTest
    @MethodSource("refusals")
    void stage_thatIsNoFuture_ofACallCancelledByItsAction_keepsThePermitUntilItEnds(RuntimeException refusal) {
        PlainStage stage = new PlainStage(refusal);
        Permit permit = semaphore.acquire().join();
        CompletableFuture<CompletableFuture<String>> self = new CompletableFuture<>();
        CompletableFuture<String> call = semaphore.withPermit(() -> {
            self.join().cancel(true);
            return stage;
        });
        self.complete(call);
        permit.close();
        assertTrue(call.isCancelled());
        assertEquals(0, semaphore.availablePermits());
        stage.complete("x");
        assertEquals(1, semaphore.availablePermits());
    }

    @Test
    void stage_thatCannotBeListenedTo_givesThePermitBack() {
        IllegalStateException odd = new IllegalStateException("odd");
        CompletableFuture<String> stage = new CompletableFuture<>() {
            @Override
            public CompletableFuture<String> whenComplete(
                    java.util.function.BiConsumer<? super String, ? super Throwable> action) {
                throw odd;
            }
        };
        assertSame(odd, failure(semaphore.withPermit(() -> stage)));
        assertEquals(1, semaphore.availablePermits());
    }

    @Test
    void cancel_whileTheActionRuns_cancelsTheStageAndGivesBackWhenThatHasEnded() {
        CompletableFuture<String> stubborn = new CompletableFuture<>() {
            @Override
            public boolean cancel(boolean mayInterruptIfRunning) {
                log.add("cancel");
                return false;
            }
        };
        CompletableFuture<String> call = semaphore.withPermit(action(stubborn));
        assertTrue(call.cancel(true));
        assertEquals(List.of("ran", "cancel"), log);
        assertTrue(call.isCancelled());
        assertEquals(0, semaphore.availablePermits());
        stubborn.complete("late");
        assertEquals(1, semaphore.availablePermits());
        assertThrows(CancellationException.class, call::join);

        CompletableFuture<String> willing = new CompletableFuture<>();
        CompletableFuture<String> second = semaphore.withPermit(() -> willing);
        assertTrue(second.cancel(false));
        assertTrue(willing.isCancelled());
        assertEquals(1, semaphore.availablePermits());
    }

    @Test
    void cancel_whenDone_changesNothing() {
        CompletableFuture<String> call = semaphore.withPermit(() -> CompletableFuture.completedFuture("x"));
        assertFalse(call.cancel(true));
        assertEquals("x", call.join());
    }

    /** The ways to end the future from outside, and the resulting failure. */
    static Stream<Arguments> enders() {
        IllegalStateException why = new IllegalStateException("outside");
        return Stream.of(
                ender("cancel", f -> f.cancel(true), CancellationException.class),
                ender("complete", f -> f.complete("out"), null),
                ender("completeExceptionally", f -> f.completeExceptionally(why), IllegalStateException.class),
                ender("orTimeout", f -> f.orTimeout(1, TimeUnit.NANOSECONDS), TimeoutException.class),
                ender("completeOnTimeout", f -> f.completeOnTimeout("out", 1, TimeUnit.NANOSECONDS), null),
                ender("completeAsync", f -> f.completeAsync(() -> "out"), null),
                ender("completeAsync, here", f -> f.completeAsync(() -> "out", Runnable::run), null),
                ender("completeAsync, failing", f -> f.completeAsync(() -> sneak(why)), CompletionException.class),
                ender("obtrudeValue", f -> f.obtrudeValue("out"), null),
                ender("obtrudeException", f -> f.obtrudeException(why), IllegalStateException.class));
    }

    private static Arguments ender(
            String name, Consumer<CompletableFuture<String>> end, Class<? extends Throwable> failure) {
        return Arguments.of(name, end, failure);
    }

    private void assertEnded(CompletableFuture<String> call, Class<? extends Throwable> failure) {
        if (failure == null) assertEquals("out", await(call));
        else assertInstanceOf(failure, awaitFailure(call));
        assertEquals(failure == CancellationException.class, call.isCancelled());
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("enders")
    void call_endedWhileItWaits_neverRunsAndTakesNoPermit(
            String name, Consumer<CompletableFuture<String>> end, Class<? extends Throwable> failure) {
        for (Executor executor : new Executor[] {null, Runnable::run, new Steps()}) {
            log.clear();
            Permit permit = semaphore.acquire().join();
            CompletableFuture<String> call = executor == null
                    ? semaphore.withPermit(action(new CompletableFuture<>()))
                    : semaphore.withPermit(action(new CompletableFuture<>()), executor);
            CompletableFuture<Permit> behind = semaphore.acquire();
            CompletableFuture<Integer> seen = call.handle((value, e) -> semaphore.waiting());
            assertEquals(2, semaphore.waiting());
            end.accept(call);
            assertEquals(1, await(seen), "the request is in the queue after the future is done");
            assertEnded(call, failure);
            permit.close();
            assertTrue(behind.isDone());
            behind.join().close();
            if (executor instanceof Steps steps) steps.runAll();
            assertEquals(List.of(), log);
            assertEquals(1, semaphore.availablePermits());
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("enders")
    void call_endedWhileItsActionWaitsForTheExecutor_neverRunsAndGivesBackAtOnce(
            String name, Consumer<CompletableFuture<String>> end, Class<? extends Throwable> failure) {
        Steps steps = new Steps();
        CompletableFuture<String> call = semaphore.withPermit(action(new CompletableFuture<>()), steps);
        assertEquals(0, semaphore.availablePermits());
        CompletableFuture<Integer> seen = call.handle((value, e) -> semaphore.availablePermits());
        end.accept(call);
        assertEquals(1, await(seen));
        assertEnded(call, failure);
        steps.runAll();
        assertEquals(List.of(), log);
        assertEquals(1, semaphore.availablePermits());
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("enders")
    void call_endedWhileTheActionRuns_givesBackWhenTheStageHasEnded(
            String name, Consumer<CompletableFuture<String>> end, Class<? extends Throwable> failure) {
        PlainStage stage = new PlainStage(new UnsupportedOperationException());
        CompletableFuture<String> call = semaphore.withPermit(action(stage));
        end.accept(call);
        assertEnded(call, failure);
        assertEquals(0, semaphore.availablePermits());
        stage.complete("in");
        assertEquals(1, semaphore.availablePermits());
        assertEnded(call, failure);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("enders")
    void call_endedWhenDone_keepsItsResultUnlessObtruded(
            String name, Consumer<CompletableFuture<String>> end, Class<? extends Throwable> failure) {
        CompletableFuture<String> call = semaphore.withPermit(() -> CompletableFuture.completedFuture("in"));
        end.accept(call);
        if (name.startsWith("obtrude")) assertEnded(call, failure);
        else assertEquals("in", call.join());
        assertEquals(1, semaphore.availablePermits());
    }

    @Test
    void completeExceptionally_withNull_isRefusedAndWithdrawsNothing() {
        Permit permit = semaphore.acquire().join();
        CompletableFuture<String> call = semaphore.withPermit(() -> CompletableFuture.completedFuture("in"));
        CompletableFuture<Permit> waits = semaphore.acquire();
        for (CompletableFuture<?> future : List.of(call, waits)) {
            assertThrows(NullPointerException.class, () -> future.completeExceptionally(null));
            assertThrows(NullPointerException.class, () -> future.obtrudeException(null));
            assertThrows(NullPointerException.class, () -> future.completeAsync(null));
            assertThrows(NullPointerException.class, () -> future.completeAsync(() -> null, null));
        }
        assertEquals(2, semaphore.waiting());
        permit.close();
        assertEquals("in", call.join());
        waits.join().close();
        assertEquals(1, semaphore.availablePermits());
    }

    @Test
    void executor_runsTheAction() {
        Steps steps = new Steps();
        Permit permit = semaphore.acquire().join();
        CompletableFuture<String> call = semaphore.withPermit(action(CompletableFuture.completedFuture("x")), steps);
        assertEquals(0, steps.size());
        permit.close();
        assertEquals(1, steps.size());
        assertEquals(List.of(), log);
        steps.runAll();
        assertEquals("x", call.join());
        AsyncMutex mutex = AsyncMutex.create();
        CompletableFuture<String> locked = mutex.withLock(action(CompletableFuture.completedFuture("y")), steps);
        assertTrue(mutex.isLocked());
        steps.runAll();
        assertEquals("y", locked.join());
        assertFalse(mutex.isLocked());
    }

    @Test
    void executor_thatRejects_failsTheFutureAndReleases() {
        CompletableFuture<String> now = semaphore.withPermit(action(new CompletableFuture<>()), Futures.REJECTING);
        assertInstanceOf(RejectedExecutionException.class, failure(now));
        Permit permit = semaphore.acquire().join();
        CompletableFuture<String> later = semaphore.withPermit(action(new CompletableFuture<>()), Futures.REJECTING);
        permit.close();
        assertInstanceOf(RejectedExecutionException.class, failure(later));
        assertEquals(List.of(), log);
        assertEquals(1, semaphore.availablePermits());
    }

    @Test
    void close_ofTheSemaphore_failsACallThatWaitsWithoutItsExecutor() {
        Permit permit = semaphore.acquire().join();
        CompletableFuture<String> call = semaphore.withPermit(action(new CompletableFuture<>()), Futures.REJECTING);
        semaphore.close();
        assertInstanceOf(baton.sync.SemaphoreClosedException.class, failure(call));
        permit.close();
    }

    @Test
    void permit_releasedByOtherCode_failsTheCallInsteadOfHangingIt() {
        CompletableFuture<String> stage = new CompletableFuture<>();
        CompletableFuture<String> call = semaphore.withPermit(() -> stage);
        semaphore.kotlin().release(1);
        stage.complete("x");
        assertInstanceOf(IllegalStateException.class, failure(call));
        assertEquals(1, semaphore.availablePermits());
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <T, E extends Throwable> T sneak(Throwable e) throws E {
        throw (E) e;
    }
}
