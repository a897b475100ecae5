package guide.distributed;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.distributed.InMemoryStore;
import baton.distributed.Lease;
import baton.interop.AsyncCluster;
import baton.interop.AsyncDistributedSemaphore;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** The Java code of docs/distributed.md. */
class DistributedJavaPageTest {
    private final Table table = new Table();
    private final InMemoryStore store = new InMemoryStore();

    private static final class Table {
        private String row = "";

        CompletableFuture<Void> write(String newRow, long token) {
            assertTrue(token > 0);
            row = newRow;
            return CompletableFuture.completedFuture(null);
        }
    }

    private static CompletableFuture<String> fetch(String path) {
        return CompletableFuture.completedFuture("42 of " + path);
    }

    private static CompletableFuture<Integer> clean(long token) {
        return CompletableFuture.completedFuture(token > 0 ? 3 : 0);
    }

    @Test
    void linesOfThePage_work() throws Exception {
        AsyncCluster cluster = AsyncCluster.open(store, Duration.ofSeconds(10));
        AsyncDistributedSemaphore atMostFive = cluster.semaphore("uplink", 5);
        CompletableFuture<String> body = atMostFive.withPermit(() -> fetch("/prices"));
        CompletableFuture<Void> written =
                cluster.mutex("account").withLock(lease -> table.write(body.join(), lease.fencingToken()));
        try (Lease lease = atMostFive.blocking().acquire(2, Duration.ofSeconds(5))) {
            lease.check();
        }
        cluster.rateLimiter("api", 100, Duration.ofSeconds(1), 20).acquire().join();
        CompletableFuture<Integer> cleaned = cluster.leader("cleaner").run(lease -> clean(lease.fencingToken()));
        written.join();
        assertEquals("42 of /prices", table.row);
        assertEquals(3, cleaned.join());
        cluster.shutdown().join();
    }
}
