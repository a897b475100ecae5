package guide.sharedmemory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncSharedRegion;
import baton.interop.AsyncSharedSemaphore;
import baton.shared.SharedLock;
import baton.shared.SharedPermit;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The Java of docs/shared-memory.md. */
class SharedMemoryJavaTest {
    @TempDir
    Path folder;

    @Test
    void counters_ofTwoMembers_countTogether() throws InterruptedException {
        Path file = folder.resolve("app");
        try (SharedCounter one = new SharedCounter(file);
                SharedCounter other = new SharedCounter(file)) {
            assertEquals(1, one.increment());
            assertEquals(2, other.increment());
        }
    }

    @Test
    void counter_whoseHolderHasGone_isRepaired() throws InterruptedException {
        Path file = folder.resolve("app");
        try (SharedCounter counter = new SharedCounter(file)) {
            assertEquals(1, counter.increment());
            AsyncSharedRegion dying = AsyncSharedRegion.open(file);
            dying.mutex("counter").lockBlocking();
            dying.bytes("counter", 16).putLong(0, -1); // half of a change
            dying.close();
            assertEquals(2, counter.increment());
        }
    }

    @Test
    void futures_takeLocksAndPermits() {
        try (AsyncSharedRegion region = AsyncSharedRegion.open(folder.resolve("app"))) {
            ByteBuffer bytes = region.bytes("total", 8);
            CompletableFuture<Long> total = region.mutex("total")
                    .lock(Duration.ofSeconds(5))
                    .thenApply(lock -> {
                        try (lock) {
                            return bytes.putLong(0, bytes.getLong(0) + 1).getLong(0);
                        }
                    });
            assertEquals(1, total.join());

            AsyncSharedSemaphore uplink = region.semaphore("uplink", 10);
            try (SharedPermit permits = uplink.acquire(2).join()) {
                assertEquals(2, permits.getPermits());
                assertEquals(8, uplink.availablePermits());
            }
            SharedLock lock = region.mutex("total").tryLock().orElseThrow();
            assertTrue(lock.getFencingToken() > 0);
            lock.close();
        }
    }
}
