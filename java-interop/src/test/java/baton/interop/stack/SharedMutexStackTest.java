package baton.interop.stack;

import static baton.interop.Futures.await;
import static baton.interop.Futures.awaitFailure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import baton.interop.AsyncSharedRegion;
import baton.interop.AsyncSharedRegion.AsyncSharedMutex;
import baton.shared.SharedLock;
import baton.shared.SharedRegionException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Many futures that wait for a lock between processes. Runs with a small stack. */
class SharedMutexStackTest {
    private static final int MANY = 20_000;

    @TempDir
    private Path directory;

    @Test
    void close_fromTheCallbackOfTheOneBefore_keepsTheStackFlat() {
        try (AsyncSharedRegion region = AsyncSharedRegion.open(directory.resolve("app"))) {
            AsyncSharedMutex mutex = region.mutex("m");
            SharedLock held = mutex.tryLock().orElseThrow();
            AtomicInteger closed = new AtomicInteger();
            List<CompletableFuture<Void>> all = new ArrayList<>();
            for (int i = 0; i < MANY; i++) {
                all.add(mutex.lock().thenAccept(lock -> {
                    closed.incrementAndGet();
                    lock.close();
                }));
            }
            held.close();
            await(CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)));
            assertEquals(MANY, closed.get());
        }
    }

    /** Each future that fails passes its place in the queue on to the next, which fails, too. */
    @Test
    void close_ofTheRegion_failsAllThatWait() {
        AsyncSharedRegion region = AsyncSharedRegion.open(directory.resolve("app"));
        AsyncSharedMutex mutex = region.mutex("m");
        mutex.tryLock().orElseThrow();
        List<CompletableFuture<SharedLock>> all = new ArrayList<>();
        for (int i = 0; i < MANY; i++) all.add(mutex.lock());
        region.close();
        for (CompletableFuture<SharedLock> future : all)
            assertInstanceOf(SharedRegionException.class, awaitFailure(future));
    }
}
