package baton.interop.cancel;

import static baton.interop.Futures.awaitFailure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.CancellableFuture;
import baton.interop.internal.cancel.Works;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/**
 * Two stages of one future end at the same time: the second one ends after the first has left the future and before the
 * first is completed. Both happen on one thread: the first stage has another source too, whose cancel runs an action.
 */
class CancelMeanwhileTest {
    private final List<String> events = new ArrayList<>();
    private final AtomicReference<Runnable> meanwhile = new AtomicReference<>(() -> {});

    private final CancellableFuture<Integer> source = CancellableFuture.of(new CompletableFuture<>());
    private final CancellableFuture<Integer> link = source.thenApply(x -> x);
    private final CancellableFuture<Integer> first = actingWhenCancelled().applyToEither(link, Function.identity());
    private final CancellableFuture<Integer> second = link.thenApply(x -> x);

    CancelMeanwhileTest() {
        Works.workOf(source).addTeardown(() -> events.add("teardown"));
    }

    private CancellableFuture<Integer> actingWhenCancelled() {
        return CancellableFuture.of(
                CancelGraph.acting(() -> meanwhile.getAndSet(() -> {}).run()));
    }

    private void assertSourceCancelledOnce() {
        assertTrue(link.isCancelled() && source.isCancelled());
        assertEquals(List.of("teardown"), events);
        assertTrue(source.terminated().isDone());
        assertTrue(first.terminated().isDone() && second.terminated().isDone());
    }

    @Test
    void cancel_ofTheLastDependentMeanwhile_leavesTheFirstItsOwnOutcome() {
        IllegalStateException mine = new IllegalStateException("mine");
        IllegalStateException other = new IllegalStateException("other");
        meanwhile.set(() -> assertTrue(second.cancel(other)));
        assertTrue(first.cancel(mine));
        assertSame(
                mine,
                assertInstanceOf(CancellationException.class, awaitFailure(first))
                        .getCause());
        assertSame(
                other,
                assertInstanceOf(CancellationException.class, awaitFailure(second))
                        .getCause());
        assertSourceCancelledOnce();
    }

    @Test
    void timeoutOfTheLastDependentMeanwhile_leavesTheFirstItsTimeout() {
        meanwhile.set(() -> assertTrue(second.completeExceptionally(new TimeoutException("second"))));
        assertTrue(first.completeExceptionally(new TimeoutException("first")));
        assertEquals("first", awaitFailure(first).getMessage());
        assertEquals("second", awaitFailure(second).getMessage());
        assertSourceCancelledOnce();
    }

    @Test
    void complete_whileTheLastDependentIsCancelled_setsTheValue() {
        meanwhile.set(() -> assertTrue(second.cancel(true)));
        assertTrue(first.complete(7));
        assertEquals(7, first.join());
        assertSourceCancelledOnce();
    }

    @Test
    void cancel_ofTheLastDependentMeanwhile_withdrawsAtOnceAndCompletesTheSourceLast() {
        CancellableFuture<String> ended = first.handle((value, e) -> {
            events.add("first");
            return "";
        });
        ended.copy();
        var unused = second.whenComplete((value, e) -> events.add("second"));
        meanwhile.set(() -> {
            second.cancel(true);
            assertTrue(second.isCancelled());
            assertTrue(Works.workOf(source).reason() != null, "the work is cancelled by the call");
            assertFalse(source.isDone(), "it would complete the first stage");
        });
        first.cancel(true);
        assertEquals(List.of("second", "first", "teardown"), events);
        assertTrue(source.isCancelled());
    }

    @Test
    void derivation_afterTheLastDependentEndedMeanwhile_isCancelledWithTheSource() {
        AtomicReference<CancellableFuture<Integer>> late = new AtomicReference<>();
        meanwhile.set(() -> {
            second.cancel(true);
            late.set(link.thenApply(x -> x));
            CancellableFuture<Integer> later = link.thenApply(x -> x);
            assertTrue(later.cancel(true));
            assertTrue(later.isCancelled());
        });
        first.cancel(true);
        assertTrue(late.get().isCompletedExceptionally());
        assertSourceCancelledOnce();
    }

    @Test
    void cancel_ofTheSourceMeanwhile_isTheOutcomeOfAll() {
        IllegalStateException reason = new IllegalStateException("source");
        meanwhile.set(() -> assertTrue(source.cancel(reason)));
        assertFalse(first.cancel(true), "the source was done before");
        assertSame(reason, awaitFailure(first).getCause().getCause());
        assertEquals(List.of("teardown"), events);
        second.cancel(true);
        assertEquals(List.of("teardown"), events);
    }

    /** Each cancel of work ends another leaf, or starts a function, before it returns. */
    @Test
    void ends_ofTheLeavesOfARandomGraphMeanwhile_setTheirOutcomes() {
        for (int seed = 0; seed < 3_000; seed++) {
            ArrayDeque<Runnable> calls = new ArrayDeque<>();
            Runnable next = () -> {
                Runnable call = calls.poll();
                if (call != null) call.run();
            };
            CancelGraph graph = new CancelGraph(seed, next);
            calls.addAll(graph.calls());
            while (!calls.isEmpty()) next.run();
            graph.assertEnded();
        }
    }
}
