package baton.interop.stress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncMutexes;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Futures and threads lock several of few keys, in any order of them, and many give up at any moment. */
class AllLocksStressTest {
    private static final int KEYS = 4;
    private static final int CALLS = 20_000;

    private final AsyncMutexes<Integer> locks = AsyncMutexes.create();
    private final List<AtomicInteger> inside = new ArrayList<>();
    private final AtomicInteger faults = new AtomicInteger();
    private final AtomicInteger done = new AtomicInteger();

    /** Work that a cancel does not end. */
    private static final class Stubborn extends CompletableFuture<Integer> {
        @Override
        public boolean cancel(boolean mayInterruptIfRunning) {
            return false;
        }
    }

    private void enter(List<Integer> keys) {
        for (int key : keys) if (inside.get(key).incrementAndGet() > 1) faults.incrementAndGet();
    }

    private void leave(List<Integer> keys) {
        done.incrementAndGet();
        for (int key : keys) inside.get(key).decrementAndGet();
    }

    private static List<Integer> someKeys() {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        return random.ints(0, KEYS)
                .distinct()
                .limit(1 + random.nextInt(3))
                .boxed()
                .toList();
    }

    private void call(ExecutorService pool) throws Exception {
        List<Integer> keys = someKeys();
        ThreadLocalRandom random = ThreadLocalRandom.current();
        if (random.nextInt(4) == 0) {
            locks.blocking().callWithAll(keys, () -> {
                enter(keys);
                leave(keys);
                return keys;
            });
            return;
        }
        CompletableFuture<Integer> end = new Stubborn();
        CompletableFuture<Integer> call = locks.withLocks(keys, () -> {
            enter(keys);
            // The stage ends on another thread, also after the call was cancelled.
            pool.execute(() -> {
                leave(keys);
                end.complete(1);
            });
            return end;
        });
        if (random.nextBoolean()) {
            if (random.nextBoolean()) Thread.yield();
            call.cancel(true);
        }
    }

    @Test
    void locksOfSeveralKeys_underCancellation_excludeAndAreAllGivenBack() throws Exception {
        for (int i = 0; i < KEYS; i++) inside.add(new AtomicInteger());
        ExecutorService pool = Executors.newFixedThreadPool(2);
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 3; t++) {
            Thread thread = new Thread(() -> {
                try {
                    for (int i = 0; i < CALLS; i++) call(pool);
                } catch (Exception e) {
                    faults.incrementAndGet();
                }
            });
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) thread.join(120_000);
        locks.withLocks(List.of(0, 1, 2, 3), () -> CompletableFuture.completedFuture(1))
                .get(2, TimeUnit.MINUTES);
        pool.shutdown();
        assertTrue(pool.awaitTermination(2, TimeUnit.MINUTES));
        assertEquals(0, faults.get());
        assertEquals(0, locks.size());
        assertTrue(done.get() > CALLS, () -> done.get() + " actions");
    }
}
