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

import baton.sync.Barrier;
import baton.sync.BarrierBrokenException;
import baton.sync.BarrierCancellation;
import baton.sync.BarrierTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class AsyncBarrierTest {
    private final CompletableFuture<String> stage = new CompletableFuture<>();
    private final AsyncBarrier acting = AsyncBarrier.create(3, () -> stage);

    private static List<CompletableFuture<Integer>> arrive(AsyncBarrier barrier, int times) {
        List<CompletableFuture<Integer>> futures = new ArrayList<>();
        for (int i = 0; i < times; i++) futures.add(barrier.arrive());
        return futures;
    }

    private static void assertWhole(AsyncBarrier barrier) {
        List<CompletableFuture<Integer>> futures = arrive(barrier, barrier.parties());
        int missing = barrier.parties();
        for (CompletableFuture<Integer> future : futures) assertEquals(--missing, future.join());
        assertEquals(0, barrier.waiting());
    }

    @ParameterizedTest
    @EnumSource
    void onCancel_isWhatItWasCreatedWith(BarrierCancellation onCancel) {
        assertEquals(onCancel, AsyncBarrier.create(2, onCancel, null).onCancel());
    }

    @Test
    void toString_saysNameAndState() {
        AsyncBarrier barrier = AsyncBarrier.create(3, BarrierCancellation.BREAK, "page");
        barrier.arrive();
        assertEquals("AsyncBarrier 'page' (parties = 3, waiting = 1)", barrier.toString());
        barrier.abort();
        assertEquals("AsyncBarrier 'page' (parties = 3, broken, waiting = 0)", barrier.toString());
        assertEquals(
                "AsyncBarrier (parties = 1, waiting = 0)",
                AsyncBarrier.create(1).toString());
    }

    @Test
    void of_aKotlinBarrier_sharesItsState() {
        Barrier kotlin = new Barrier(2, BarrierCancellation.RETRACT, null, null);
        AsyncBarrier face = AsyncBarrier.of(kotlin);
        assertSame(kotlin, face.kotlin());
        face.arrive();
        assertEquals(1, kotlin.getWaiting());
    }

    @ParameterizedTest
    @ValueSource(ints = {Integer.MIN_VALUE, -1, 0})
    void create_fewerThanOneParty_isRefused(int parties) {
        assertThrows(IllegalArgumentException.class, () -> AsyncBarrier.create(parties));
        assertThrows(IllegalArgumentException.class, () -> AsyncBarrier.create(parties, () -> stage));
        assertEquals(Integer.MAX_VALUE, AsyncBarrier.create(Integer.MAX_VALUE).parties());
    }

    @Test
    void arrive_allTheParties_getTheirNumbersInOrder() {
        AsyncBarrier barrier = AsyncBarrier.create(3);
        List<Integer> order = new ArrayList<>();
        for (int i = 0; i < 2; i++) barrier.arrive().thenAccept(order::add);
        assertEquals(List.of(), order);
        barrier.arrive().thenAccept(order::add);
        assertEquals(List.of(2, 1, 0), order);
        assertWhole(barrier);
    }

    @Test
    void arrive_withAnAction_completesWhenItsStageHas() {
        List<CompletableFuture<Integer>> futures = arrive(acting, 3);
        assertEquals(2, acting.waiting());
        assertTrue(futures.stream().noneMatch(CompletableFuture::isDone));
        stage.complete("done");
        for (int i = 0; i < 3; i++) assertEquals(2 - i, futures.get(i).join());
    }

    static Stream<Supplier<CompletionStage<String>>> failing() {
        return Stream.of(
                () -> CompletableFuture.failedFuture(new IllegalArgumentException("oops")),
                () -> CompletableFuture.completedFuture("").thenApply(s -> {
                    throw new IllegalArgumentException("oops");
                }),
                () -> {
                    throw new IllegalArgumentException("oops");
                });
    }

    @ParameterizedTest
    @MethodSource("failing")
    void action_thatFails_failsTheLastPartyWithThatAndTheOthersWithItAsTheCause(
            Supplier<CompletionStage<String>> action) {
        AsyncBarrier barrier = AsyncBarrier.create(2, action);
        List<CompletableFuture<Integer>> futures = arrive(barrier, 2);
        assertInstanceOf(IllegalArgumentException.class, failure(futures.get(1)));
        Throwable broken = assertInstanceOf(BarrierBrokenException.class, failure(futures.get(0)));
        assertInstanceOf(IllegalArgumentException.class, broken.getCause());
        assertTrue(barrier.isBroken());
        assertInstanceOf(BarrierBrokenException.class, failure(barrier.arrive()));
        barrier.reset();
        assertFalse(barrier.isBroken());
    }

    @Test
    void action_thatReturnsNull_breaks() {
        AsyncBarrier barrier = AsyncBarrier.create(1, () -> null);
        Throwable e = failure(barrier.arrive());
        assertEquals("the action returned null instead of a stage", e.getMessage());
        assertTrue(barrier.isBroken());
    }

    private enum Ender {
        CANCEL(f -> f.cancel(true), CancellationException.class),
        COMPLETE(f -> f.complete(77), null),
        COMPLETE_EXCEPTIONALLY(
                f -> f.completeExceptionally(new IllegalCallerException()), IllegalCallerException.class),
        OR_TIMEOUT(f -> f.orTimeout(1, TimeUnit.NANOSECONDS), TimeoutException.class),
        COMPLETE_ON_TIMEOUT(f -> f.completeOnTimeout(77, 1, TimeUnit.NANOSECONDS), null),
        COMPLETE_ASYNC(f -> f.completeAsync(() -> 77), null),
        OBTRUDE_VALUE(f -> f.obtrudeValue(77), null),
        OBTRUDE_EXCEPTION(f -> f.obtrudeException(new IllegalCallerException()), IllegalCallerException.class);

        private final Consumer<CompletableFuture<Integer>> end;
        private final Class<? extends Throwable> failure;

        Ender(Consumer<CompletableFuture<Integer>> end, Class<? extends Throwable> failure) {
            this.end = end;
            this.failure = failure;
        }

        void end(CompletableFuture<Integer> future) {
            end.accept(future);
            if (failure == null) assertEquals(77, await(future));
            else assertInstanceOf(failure, awaitFailure(future));
        }
    }

    @ParameterizedTest
    @EnumSource
    void future_endedWhileItWaits_takesItsArrivalBackFirst(Ender ender) {
        AsyncBarrier barrier = AsyncBarrier.create(3);
        List<CompletableFuture<Integer>> futures = arrive(barrier, 2);
        CompletableFuture<Integer> seen = futures.get(0).handle((value, e) -> barrier.waiting());
        ender.end(futures.get(0));
        assertEquals(1, await(seen));
        assertFalse(barrier.arrive().isDone());
        assertEquals(0, barrier.arrive().join());
        assertEquals(2, futures.get(1).join());
    }

    @ParameterizedTest
    @EnumSource
    void future_endedWhileItWaits_breaksFirst(Ender ender) {
        AsyncBarrier barrier = AsyncBarrier.create(3, BarrierCancellation.BREAK, null);
        List<CompletableFuture<Integer>> futures = arrive(barrier, 2);
        CompletableFuture<Boolean> seen = futures.get(0).handle((value, e) -> barrier.isBroken());
        ender.end(futures.get(0));
        assertTrue(await(seen));
        Throwable broken = assertInstanceOf(BarrierBrokenException.class, awaitFailure(futures.get(1)));
        assertInstanceOf(CancellationException.class, broken.getCause());
    }

    @ParameterizedTest
    @EnumSource
    void future_endedAfterItWasLetGo_changesNothing(Ender ender) {
        AsyncBarrier barrier = AsyncBarrier.create(2, BarrierCancellation.BREAK, null);
        CompletableFuture<Integer> first = barrier.arrive();
        assertEquals(0, barrier.arrive().join());
        ender.end.accept(first);
        assertWhole(barrier);
    }

    @ParameterizedTest
    @EnumSource
    void future_ofTheLastPartyEndedWhileTheActionRuns_breaksOnlyIfCancelled(Ender ender) {
        List<CompletableFuture<Integer>> futures = arrive(acting, 3);
        ender.end(futures.get(2));
        if (ender == Ender.CANCEL) {
            assertTrue(stage.isCancelled());
            Throwable broken = assertInstanceOf(BarrierBrokenException.class, failure(futures.get(0)));
            assertInstanceOf(CancellationException.class, broken.getCause());
            assertTrue(acting.isBroken());
        } else {
            stage.complete("done");
            assertEquals(2, futures.get(0).join());
            assertEquals(1, futures.get(1).join());
            assertFalse(acting.isBroken());
        }
        assertEquals(0, acting.waiting());
    }

    @ParameterizedTest
    @EnumSource
    void future_ofAnotherPartyEndedWhileTheActionRuns_justLeaves(Ender ender) {
        List<CompletableFuture<Integer>> futures = arrive(acting, 3);
        ender.end(futures.get(0));
        assertEquals(1, acting.waiting());
        stage.complete("done");
        assertEquals(0, futures.get(2).join());
        assertTrue(futures.get(1).isDone());
        assertFalse(acting.isBroken());
    }

    @Test
    void cancel_ofTheLastPartyWhoseActionEndsAllTheSame_breaks() {
        CompletableFuture<String> source = new CompletableFuture<>();
        AsyncBarrier barrier = AsyncBarrier.create(2, source::minimalCompletionStage);
        List<CompletableFuture<Integer>> futures = arrive(barrier, 2);
        assertTrue(futures.get(1).cancel(true));
        assertInstanceOf(BarrierBrokenException.class, failure(futures.get(0)));
        source.complete("done");
        assertTrue(barrier.isBroken());
    }

    @Test
    void reset_whileTheActionRuns_failsAllAndTheLastPartyAtTheEnd() {
        List<CompletableFuture<Integer>> futures = arrive(acting, 3);
        acting.reset();
        for (int i = 0; i < 2; i++) assertNull(failure(futures.get(i)).getCause());
        assertFalse(futures.get(2).isDone());
        stage.complete("done");
        assertInstanceOf(BarrierBrokenException.class, failure(futures.get(2)));
        assertWhole(acting);
    }

    @Test
    void abort_withACause_isWhatTheOthersLearn() {
        AsyncBarrier barrier = AsyncBarrier.create(2);
        CompletableFuture<Integer> waits = barrier.arrive();
        Exception cause = new Exception("no data");
        barrier.abort(cause);
        assertSame(cause, failure(waits).getCause());
        assertSame(cause, failure(barrier.arrive()).getCause());
        barrier.reset();
        assertWhole(barrier);
    }

    @Test
    void arrive_withAnExecutor_isCompletedThere() {
        Futures.Steps steps = new Futures.Steps();
        AsyncBarrier barrier = AsyncBarrier.create(2);
        CompletableFuture<Integer> first = barrier.arrive(steps);
        CompletableFuture<Integer> second = barrier.arrive(Futures.REJECTING);
        assertEquals(0, second.join());
        assertFalse(first.isDone());
        steps.runAll();
        assertEquals(1, first.join());
    }

    @Test
    void arrive_withTimeoutZero_isNowOrNotAtAll() {
        AsyncBarrier barrier = AsyncBarrier.create(2);
        Throwable e = assertInstanceOf(BarrierTimeoutException.class, failure(barrier.arrive(Duration.ZERO)));
        assertTrue(e.getMessage().startsWith("not all arrived within PT0S: Barrier"), e::getMessage);
        assertEquals(0, barrier.waiting());
        CompletableFuture<Integer> first = barrier.arrive();
        assertEquals(0, barrier.arrive(Duration.ZERO).join());
        assertEquals(1, first.join());
    }

    @ParameterizedTest
    @EnumSource
    void arrive_afterTheTimeout_retractsOrBreaks(BarrierCancellation onCancel) {
        AsyncBarrier barrier = AsyncBarrier.create(3, onCancel, null);
        CompletableFuture<Integer> other = barrier.arrive();
        CompletableFuture<Integer> late = barrier.arrive(Duration.ofMillis(20));
        assertInstanceOf(BarrierTimeoutException.class, awaitFailure(late));
        if (onCancel == BarrierCancellation.BREAK) {
            assertInstanceOf(TimeoutException.class, awaitFailure(other).getCause());
            assertTrue(barrier.isBroken());
        } else {
            assertFalse(other.isDone());
            assertEquals(1, barrier.waiting());
        }
    }

    @Test
    void arrive_withTheLongestTimeout_waitsAndIsLetGo() {
        AsyncBarrier barrier = AsyncBarrier.create(2);
        CompletableFuture<Integer> patient = barrier.arrive(Duration.ofSeconds(Long.MAX_VALUE));
        barrier.arrive();
        assertEquals(1, patient.join());
    }

    static Stream<Duration> negative() {
        return Stream.of(Duration.ofNanos(-1), Duration.ofSeconds(Long.MIN_VALUE));
    }

    @ParameterizedTest
    @MethodSource("negative")
    void arrive_withNegativeTimeout_isNowOrNotAtAll(Duration timeout) {
        assertEquals(0, AsyncBarrier.create(1).arrive(timeout).join());
        AsyncBarrier barrier = AsyncBarrier.create(2);
        assertInstanceOf(BarrierTimeoutException.class, failure(barrier.arrive(timeout)));
        assertEquals(0, barrier.waiting());
    }

    /** Callbacks that arrive again, nested in each other. */
    @Test
    void arrive_inCallbacksForever_keepsTheStackFlat() {
        AsyncBarrier barrier = AsyncBarrier.create(1, () -> CompletableFuture.completedFuture(""));
        CompletableFuture<Integer> last = CompletableFuture.completedFuture(0);
        for (int i = 0; i < 100_000; i++) last = barrier.arrive();
        assertEquals(0, last.join());
        AsyncBarrier gated = AsyncBarrier.create(1, () -> stage);
        List<CompletableFuture<Integer>> futures = arrive(gated, 100_000);
        stage.complete("done");
        for (CompletableFuture<Integer> future : futures) assertEquals(0, await(future));
    }

    static Stream<Arguments> nulls() {
        AsyncBarrier b = AsyncBarrier.create(1);
        return Stream.of(
                call("barrier", () -> AsyncBarrier.of(null)),
                call("onCancel", () -> AsyncBarrier.create(1, null, "name")),
                call("action", () -> AsyncBarrier.create(1, null)),
                call("onCancel", () -> AsyncBarrier.create(1, null, "name", () -> null)),
                call("action", () -> AsyncBarrier.create(1, BarrierCancellation.BREAK, "name", null)),
                call("executor", () -> b.arrive((Executor) null)),
                call("timeout", () -> b.arrive((Duration) null)),
                call("cause", () -> b.abort(null)));
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
