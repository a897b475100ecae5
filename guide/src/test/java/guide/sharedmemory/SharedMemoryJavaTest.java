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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
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

    private final List<String> worked = new ArrayList<>();

    private void work(SharedPermit permit) {
        worked.add(permit.getPermits() + "");
    }

    private CompletableFuture<String> send() {
        return CompletableFuture.completedFuture("sent");
    }

    @Test
    void threads_takePermits_andTheProcessesThatHoldAreKnown() throws InterruptedException {
        try (AsyncSharedRegion region = AsyncSharedRegion.open(folder.resolve("app"))) {
            AsyncSharedSemaphore licences = region.semaphore("licences", 3);
            try (SharedPermit permit = licences.acquireBlocking()) {
                work(permit);
            }
            Optional<SharedPermit> soon = licences.acquireBlocking(1, Duration.ofSeconds(5)); // one permit
            if (soon.isPresent()) {
                try (SharedPermit permit = soon.get()) {
                    work(permit);
                }
            }
            CompletableFuture<String> sent = licences.withPermit(() -> send(), Duration.ofSeconds(5));
            assertEquals("sent", sent.join());
            assertEquals(List.of("1", "1"), worked);

            SharedPermit held = licences.tryAcquire().orElseThrow();
            Map<Long, Integer> holders = licences.holders(); // {4711=1}
            OptionalLong writer = region.mutex("total").holder();
            assertEquals(Map.of(ProcessHandle.current().pid(), 1), holders);
            assertEquals(OptionalLong.empty(), writer);
            held.close();
        }
    }
}
