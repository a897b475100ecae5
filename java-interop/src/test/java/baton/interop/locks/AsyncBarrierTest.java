package baton.interop.locks;

import static baton.interop.Futures.await;
import static baton.interop.Futures.awaitFailure;
import static baton.interop.Futures.failure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncBarrier;
import baton.interop.futures.Ender;
import baton.sync.BarrierBrokenException;
import baton.sync.BarrierCancellation;
import baton.sync.BarrierTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

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

    /** Ends the future, and waits until it has ended. */
    private static void end(Ender ender, CompletableFuture<?> future) {
        ender.end(future);
        assertEquals("ended", await(future.handle((value, e) -> "ended")));
    }

    @ParameterizedTest
    @EnumSource
    void future_endedWhileItWaits_breaksFirst(Ender ender) {
        AsyncBarrier barrier = AsyncBarrier.create(3, BarrierCancellation.BREAK);
        List<CompletableFuture<Integer>> futures = arrive(barrier, 2);
        CompletableFuture<?> ended = futures.get(0);
        CompletableFuture<Boolean> seen = ended.handle((value, e) -> barrier.isBroken());
        end(ender, futures.get(0));
        assertTrue(await(seen));
        Throwable broken = assertInstanceOf(BarrierBrokenException.class, awaitFailure(futures.get(1)));
        assertInstanceOf(CancellationException.class, broken.getCause());
    }

    @ParameterizedTest
    @EnumSource
    void future_ofTheLastPartyEndedWhileTheActionRuns_breaksOnlyIfCancelled(Ender ender) {
        List<CompletableFuture<Integer>> futures = arrive(acting, 3);
        end(ender, futures.get(2));
        if (ender.isCancel()) {
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
        end(ender, futures.get(0));
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

    @ParameterizedTest
    @EnumSource
    void arrive_afterTheTimeout_retractsOrBreaks(BarrierCancellation onCancel) {
        AsyncBarrier barrier = AsyncBarrier.create(3, onCancel);
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
}
