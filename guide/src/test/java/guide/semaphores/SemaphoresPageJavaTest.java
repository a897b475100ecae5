package guide.semaphores;

import static org.junit.jupiter.api.Assertions.assertEquals;

import baton.Priority;
import baton.interop.AsyncSemaphore;
import baton.interop.AsyncSemaphores;
import baton.interop.Permit;
import baton.sync.WaitOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** The Java code of docs/semaphores.md. */
class SemaphoresPageJavaTest {
    private static final class Client {
        CompletableFuture<String> getAsync(String path) {
            return CompletableFuture.supplyAsync(() -> "page of " + path);
        }

        String get(String path) {
            return "page of " + path;
        }
    }

    private final Client client = new Client();

    private final AsyncSemaphore uplink = AsyncSemaphore.create(5, "uplink");

    CompletableFuture<String> fetch(String path) {
        return uplink.withPermit(() -> client.getAsync(path));
    }

    CompletableFuture<String> fetchLarge(String path) {
        return uplink.withPermits(3, () -> client.getAsync(path), Duration.ofMillis(200));
    }

    String fetchBlocking(String path) throws Exception {
        return uplink.blocking().call(() -> client.get(path));
    }

    @Test
    void permits_areGivenBack() throws Exception {
        assertEquals("page of /a", fetch("/a").join());
        assertEquals("page of /a", fetchLarge("/a").join());
        assertEquals("page of /a", fetchBlocking("/a"));
        assertEquals(5, uplink.availablePermits());
    }

    @Test
    void urgentWaiters_areServedFirst() {
        List<String> served = new ArrayList<>();
        AsyncSemaphore uplink = AsyncSemaphore.create(1, WaitOrder.PRIORITY);
        Permit held = uplink.acquire().join();
        CompletableFuture<Void> report = uplink.acquire(1, Priority.NORMAL).thenAccept(permit -> {
            try (permit) {
                served.add("report");
            }
        });
        CompletableFuture<Void> login = uplink.acquire(1, Priority.HIGH).thenAccept(permit -> {
            try (permit) {
                served.add("login");
            }
        });
        held.close();
        CompletableFuture.allOf(report, login).join();
        assertEquals(List.of("login", "report"), served);
    }

    private final AsyncSemaphores<String> perHost = AsyncSemaphores.create(4);

    CompletableFuture<String> fetchFrom(String host, String path) {
        return perHost.withPermit(host, () -> client.getAsync(host + path));
    }

    @Test
    void hosts_haveTheirOwnPermits() {
        assertEquals("page of a/1", fetchFrom("a", "/1").join());
    }
}
