package baton.interop.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.CancellableFuture;
import baton.interop.Futures;
import baton.memory.CollectorKt;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Test;

/** The objects that a chain keeps alive. */
class CancelChainMemoryTest {
    private static final int MANY = 50_000;

    /** One exception for all futures, so that the measurement contains no stack traces. */
    private static final CancellationException CAUSE = new CancellationException("enough");

    private static long bytesOfDependentsThatCameAndWent(CompletableFuture<Integer> source, int many) {
        long before = CollectorKt.usedHeap();
        for (int i = 0; i < many; i++) source.thenApply(x -> x).completeExceptionally(CAUSE);
        return CollectorKt.usedHeap() - before;
    }

    /** CompletableFuture itself keeps a cancelled dependent until its source is done. */
    @Test
    void source_thatLivesLong_keepsLittleMoreThanCompletableFutureDoes() {
        CompletableFuture<Integer> plain = new CompletableFuture<>();
        CompletableFuture<Integer> never = new CompletableFuture<>();
        CancellableFuture<Integer> ours = CancellableFuture.of(never);
        CancellableFuture<Integer> wants = ours.thenApply(x -> x);
        bytesOfDependentsThatCameAndWent(CancellableFuture.of(new CompletableFuture<>()), 1_000);
        long theirs = bytesOfDependentsThatCameAndWent(plain, MANY) / MANY;
        long bytes = bytesOfDependentsThatCameAndWent(ours, MANY) / MANY;
        assertTrue(bytes <= theirs + 64, bytes + " bytes a dependent, plain " + theirs);
        assertTrue(!ours.isDone() && !plain.isDone() && !never.isDone());
        assertTrue(wants.cancel(true));
        assertTrue(never.isCancelled());
    }

    @Test
    void end_ofAChainOfWhichTheOthersAreDone_keepsNoneOfThem() {
        Futures.Steps steps = new Futures.Steps();
        List<WeakReference<Object>> others = new ArrayList<>();
        CancellableFuture<Integer> last = queue(steps, others);
        steps.runAll();
        assertEquals(0, last.join());
        CollectorKt.assertCollected(others);
        assertTrue(last.isDone());
    }

    /** A chain that runs its functions one after the other: each stage is derived while the earlier ones still wait. */
    private static CancellableFuture<Integer> queue(Executor executor, List<WeakReference<Object>> others) {
        CancellableFuture<Integer> last = CancellableFuture.supply(executor, token -> 0);
        for (int i = 0; i < 100; i++) {
            others.add(new WeakReference<>(last));
            CancellableFuture<Integer> before = last;
            last = i % 2 == 0
                    ? last.thenComposeAsync(x -> CancellableFuture.supply(executor, token -> x), executor)
                    : last.thenCombine(before, Math::max);
        }
        return last;
    }

    /** In a function of its own, so that no local variable keeps an object alive. */
    private static CancellableFuture<Integer> supplied(
            Executor executor, List<WeakReference<Object>> captured, RuntimeException failure) {
        Object function = new Object();
        Object teardown = new Object();
        captured.add(new WeakReference<>(function));
        captured.add(new WeakReference<>(teardown));
        return CancellableFuture.supply(executor, token -> {
            token.onCancel(() -> captured.add(new WeakReference<>(teardown)));
            if (failure != null) throw failure;
            return function == null ? 0 : 1;
        });
    }

    @Test
    void future_thatIsDone_keepsNeitherItsFunctionNorItsTeardowns() {
        Futures.Steps steps = new Futures.Steps();
        List<WeakReference<Object>> captured = new ArrayList<>();
        CancellableFuture<Integer> value = supplied(steps, captured, null);
        CancellableFuture<Integer> failed = supplied(steps, captured, new IllegalStateException());
        CancellableFuture<Integer> cancelled = supplied(steps, captured, null);
        assertTrue(cancelled.cancel(true));
        steps.runAll();
        CollectorKt.assertCollected(captured);
        assertTrue(value.join() == 1 && failed.isCompletedExceptionally() && cancelled.isCancelled());
    }

    @Test
    void source_thatIsCancelled_letsGoOfTheStageItWasMadeOf() {
        List<WeakReference<Object>> stages = new ArrayList<>();
        CancellableFuture<Integer> future = ofAStage(stages);
        CollectorKt.assertCollected(stages);
        assertTrue(future.isCancelled());
    }

    private static CancellableFuture<Integer> ofAStage(List<WeakReference<Object>> stages) {
        CompletableFuture<Integer> stage = new CompletableFuture<>();
        stages.add(new WeakReference<>(stage));
        CancellableFuture<Integer> future = CancellableFuture.of(stage);
        future.thenApply(x -> x).cancel(true);
        return future;
    }
}
