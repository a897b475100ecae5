package baton.interop.stress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.CancellableFuture;
import baton.interop.CancellationToken;
import baton.interop.TaskScope;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Scopes whose functions fork, fail and are cancelled at random: none of their code runs after the block. */
@Tag("any-jdk")
@Timeout(300)
class TaskScopeStressTest {
    private static final int SCOPES = 1_000;

    private final AtomicInteger inside = new AtomicInteger();
    private final AtomicInteger registered = new AtomicInteger();
    private final AtomicInteger ran = new AtomicInteger();
    private final Queue<CancellableFuture<Integer>> futures = new ConcurrentLinkedQueue<>();

    private void forkSome(TaskScope scope, int levels, int many, SplittableRandom random, int badness) {
        for (int i = 0; i < many; i++) {
            SplittableRandom own = random.split();
            CancellableFuture<Integer> future = scope.fork(token -> work(scope, token, levels, own, badness));
            futures.add(future);
            if (random.nextInt(50) < badness) future.thenApply(x -> x).cancel(true);
        }
    }

    private int work(TaskScope scope, CancellationToken token, int levels, SplittableRandom random, int badness) {
        inside.incrementAndGet();
        try {
            int[] mine = new int[1];
            registered.incrementAndGet();
            token.onCancel(() -> {
                ran.incrementAndGet();
                assertEquals(1, ++mine[0]);
            });
            try {
                if (levels > 0) forkSome(scope, levels - 1, 3, random, badness);
            } catch (IllegalStateException e) { // closed
                assertTrue(token.isCancelled());
            }
            if (random.nextInt(50) < badness) throw new IllegalArgumentException("function");
            for (int i = random.nextInt(100); i > 0 && !token.isCancelled(); i--) Thread.onSpinWait();
            return 1;
        } finally {
            inside.decrementAndGet();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 5})
    void scope_afterItsBlock_hasLeftNothingBehind(int badness) throws Exception {
        SplittableRandom random = new SplittableRandom(badness);
        ExecutorService threads = Executors.newFixedThreadPool(3);
        try {
            for (int i = 0; i < SCOPES; i++) {
                boolean joins = random.nextInt(2) == 0;
                boolean failed = false;
                try (TaskScope scope = badness == 1 ? TaskScope.openIndependent(threads) : TaskScope.open(threads)) {
                    forkSome(scope, 2, 2, random, badness);
                    if (joins) scope.join();
                } catch (ExecutionException e) {
                    failed = true;
                    assertEquals(IllegalArgumentException.class, e.getCause().getClass());
                }
                assertEquals(0, inside.get());
                assertEnded(joins && !failed, badness == 0 && joins);
            }
        } finally {
            threads.shutdown();
        }
    }

    private void assertEnded(boolean well, boolean perfectly) {
        int values = 0;
        int all = 0;
        for (CancellableFuture<Integer> future = futures.poll(); future != null; future = futures.poll()) {
            assertTrue(future.isDone() && future.terminated().isDone());
            if (!future.isCompletedExceptionally()) values++;
            else if (well) assertTrue(future.isCancelled());
            all++;
        }
        assertEquals(registered.get() - values, ran.get(), "teardowns");
        if (perfectly) assertEquals(2 + 6 + 18, values);
        assertTrue(all >= values);
        registered.set(0);
        ran.set(0);
    }
}
