package guide.migrating;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.distributed.InMemoryStore;
import baton.distributed.Lease;
import baton.interop.AsyncCluster;
import baton.interop.AsyncDistributedMutex;
import baton.interop.AsyncDistributedRateLimiter;
import baton.interop.AsyncDistributedSemaphore;
import baton.interop.AsyncLeader;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The Java code of docs/MIGRATING.md about Redisson, ShedLock and the proxies of bucket4j. */
@Timeout(300)
class MigratingDistributedTest {
    private final AsyncCluster cluster = AsyncCluster.open(new InMemoryStore(), Duration.ofSeconds(10));

    @AfterEach
    void close() {
        cluster.close();
    }

    private static CompletableFuture<String> call() {
        return CompletableFuture.completedFuture("called");
    }

    @Test
    void table_redisson() throws Exception {
        AsyncDistributedMutex account = cluster.mutex("account");
        try (Lease lease = account.blocking().lock()) {
            assertTrue(lease.fencingToken() > 0);
            assertTrue(account.isHeldHere());
            assertEquals(Optional.empty(), cluster.mutex("account").blocking().tryLock());
            lease.onLost(() -> {}).close();
        }
        AsyncDistributedSemaphore uplink = cluster.semaphore("uplink", 5);
        try (Lease lease = uplink.blocking().acquire(2, Duration.ofSeconds(1))) {
            lease.check();
        }
        assertEquals("called", uplink.withPermit(() -> call()).join());
        uplink.resize(7);
        AsyncDistributedRateLimiter api = cluster.rateLimiter("api", 100, Duration.ofSeconds(1));
        assertTrue(api.tryAcquire().join());
        cluster.shutdown().join();
    }

    @Test
    void table_shedLock() {
        AsyncLeader nightly = cluster.leader("nightly");
        assertEquals("called", nightly.run(lease -> call()).join());
        assertFalse(nightly.isLeader());
        Optional<Lease> now = cluster.mutex("report").tryLock().join();
        now.ifPresent(Lease::release);
        assertTrue(now.isPresent());
    }

    @Test
    void table_bucket4jOnSeveralMachines() {
        AsyncDistributedRateLimiter api = cluster.rateLimiter("api", 100, Duration.ofSeconds(1), 20);
        assertTrue(api.tryAcquire(5).join());
        api.acquire(2, Duration.ofSeconds(5)).join();
    }
}
