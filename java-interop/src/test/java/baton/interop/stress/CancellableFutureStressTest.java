package baton.interop.stress;

import static baton.interop.Futures.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.CancellableFuture;
import baton.interop.Futures;
import baton.interop.cancel.CancelGraph;
import baton.interop.internal.cancel.Works;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.ToIntFunction;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Two threads race at one future: in any order there is one outcome, and each teardown runs once or never. */
@Tag("any-jdk")
@Timeout(300)
class CancellableFutureStressTest {
    private static final int ROUNDS = 3_000;

    private final Race race = new Race();
    private final AtomicInteger tornDown = new AtomicInteger();

    /** A function with three teardowns runs on the other thread; this thread ends its future. */
    private void races(ToIntFunction<CancellableFuture<Integer>> end) {
        for (int round = 0; round < ROUNDS; round++) {
            tornDown.set(0);
            Futures.Steps steps = new Futures.Steps();
            AtomicInteger begun = new AtomicInteger();
            int number = round;
            CancellableFuture<Integer> future = CancellableFuture.supply(steps, token -> {
                begun.incrementAndGet();
                for (int i = 0; i < 3; i++) token.onCancel(tornDown::incrementAndGet);
                if (number % 5 == 0) throw new IllegalStateException("function");
                return 1;
            });
            AtomicInteger terminated = new AtomicInteger();
            var unused = future.terminated().thenRun(terminated::incrementAndGet);
            int[] won = new int[1];
            race.run(round, steps::runAll, () -> {
                won[0] = end.applyAsInt(future);
                assertTrue(future.isDone(), "when the call returns");
            });
            assertEquals(1, terminated.get());
            boolean value = won[0] == 0 && number % 5 != 0;
            assertEquals(value, !future.isCompletedExceptionally() && future.join() == 1);
            assertEquals(value ? 0 : 3 * begun.get(), tornDown.get());
        }
    }

    @Test
    void cancel_racingWithTheEndOfTheFunction_isOneOutcome() {
        races(future -> future.cancel(true) ? 1 : 0);
    }

    @Test
    void complete_racingWithTheEndOfTheFunction_isOneOutcome() {
        races(future -> future.complete(2) ? 1 : 0);
    }

    @Test
    void cancel_ofAStageRacingWithTheEndOfTheFunction_isOneOutcome() {
        races(future -> {
            future.thenApply(x -> x).cancel(true);
            // This may be too late for the source: the other thread may be about to set its outcome.
            return future.cancel(true) ? 1 : 0;
        });
    }

    @Test
    void cancel_ofBothStagesAtOnce_reachesTheSourceOnce() {
        for (int round = 0; round < ROUNDS; round++) {
            tornDown.set(0);
            CancellableFuture<Integer> source = CancellableFuture.of(new CompletableFuture<>());
            Works.workOf(source).addTeardown(tornDown::incrementAndGet);
            CancellableFuture<Integer> one = source.thenApply(x -> x);
            CancellableFuture<Integer> two = source.thenCombine(one.copy(), Integer::sum);
            race.run(round, () -> one.cancel(true), () -> two.cancel(true));
            assertTrue(source.isCancelled() && one.isCancelled() && two.isCancelled());
            assertEquals(1, tornDown.get());
            assertTrue(source.terminated().isDone());
        }
    }

    @Test
    void ends_ofTheLeavesOfARandomGraph_setTheirOutcomes() {
        for (int round = 0; round < ROUNDS; round++) {
            CancelGraph graph = new CancelGraph(round, () -> {});
            List<Runnable> calls = graph.calls();
            int half = calls.size() / 2;
            race.run(
                    round,
                    () -> calls.subList(0, half).forEach(Runnable::run),
                    () -> calls.subList(half, calls.size()).forEach(Runnable::run));
            graph.assertEnded();
        }
    }

    @Test
    void cancel_racingWithTheInnerStage_neverLosesIt() {
        for (int round = 0; round < ROUNDS; round++) {
            CompletableFuture<Integer> inner = new CompletableFuture<>();
            CancellableFuture<Integer> source = CancellableFuture.of(new CompletableFuture<>());
            AtomicInteger asked = new AtomicInteger();
            CancellableFuture<Integer> composed = source.thenCompose(x -> {
                asked.incrementAndGet();
                return inner;
            });
            race.run(round, () -> source.complete(1), () -> composed.cancel(true));
            assertTrue(composed.isCancelled());
            assertEquals(asked.get() == 1, inner.isCancelled());
        }
    }

    @Test
    void derivation_racingWithTheCancel_isCancelledWithTheSourceOrKeepsIt() {
        for (int round = 0; round < ROUNDS; round++) {
            CancellableFuture<Integer> source = CancellableFuture.of(new CompletableFuture<>());
            CancellableFuture<Integer> one = source.thenApply(x -> x);
            CompletableFuture<CancellableFuture<Integer>> two = new CompletableFuture<>();
            race.run(round, () -> two.complete(source.thenApply(x -> x)), () -> one.cancel(true));
            assertEquals(source.isDone(), two.join().isDone());
            two.join().cancel(true);
            assertTrue(source.isCancelled());
        }
    }

    @Test
    void interrupt_racingWithTheEndOfTheFunction_neverReachesWhatComesAfter() {
        for (int round = 0; round < ROUNDS; round++) {
            Futures.Steps steps = new Futures.Steps();
            CancellableFuture<Integer> future = CancellableFuture.supply(steps, token -> {
                token.interruptible();
                return 1;
            });
            boolean[] interrupted = new boolean[1];
            race.run(
                    round,
                    () -> {
                        steps.runAll();
                        interrupted[0] = Thread.interrupted();
                    },
                    () -> future.cancel(true));
            assertFalse(interrupted[0]);
            await(future.terminated());
        }
    }
}
