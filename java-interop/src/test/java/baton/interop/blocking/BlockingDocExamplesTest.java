package baton.interop.blocking;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import baton.Priority;
import baton.interop.AsyncBarrier;
import baton.interop.AsyncChannel;
import baton.interop.AsyncLatch;
import baton.interop.AsyncMutex;
import baton.interop.AsyncReadWriteLock;
import baton.interop.AsyncSemaphore;
import baton.interop.AsyncTaskScheduler;
import baton.interop.AsyncWaitGroup;
import baton.interop.BlockingChannel;
import baton.interop.BlockingReadWriteLock;
import baton.interop.BlockingSemaphore;
import baton.interop.Tasks;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The examples in the documentation of the blocking views. */
@Timeout(300)
class BlockingDocExamplesTest {
    private int balance;
    private int computed;

    private void compute(int round) {
        computed += round;
    }

    private static String load(String url) {
        return "page of " + url;
    }

    private String loadPage(String url) throws IOException {
        if (url.isEmpty()) throw new IOException("no url");
        return load(url);
    }

    @Test
    void tasks_mapLimit_loadsAll() throws Exception {
        List<String> urls = List.of("a", "b");
        List<String> pages = Tasks.blocking().mapLimit(urls, 5, this::loadPage);
        assertEquals(List.of("page of a", "page of b"), pages);
    }

    /** Fails, because nothing listens at the address. */
    @Test
    void semaphore_call_releasesThePermit() {
        HttpClient client = HttpClient.newHttpClient();
        HttpRequest request =
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:9/")).build();
        AsyncSemaphore async = AsyncSemaphore.create(5);
        BlockingSemaphore uplink = async.blocking();
        assertThrows(IOException.class, () -> {
            String body = uplink.call(
                    () -> client.send(request, BodyHandlers.ofString()).body());
            throw new AssertionError(body);
        });
        assertEquals(5, async.availablePermits());
    }

    @Test
    void mutex_asALock_isUnlocked() {
        AsyncMutex mutex = AsyncMutex.create();
        int amount = 3;
        Lock lock = mutex.blocking();
        lock.lock();
        try {
            balance += amount;
        } finally {
            lock.unlock();
        }
        assertEquals(3, balance);
        assertFalse(mutex.isLocked());
    }

    @Test
    void readWriteLock_read_returnsTheValue() throws Exception {
        Map<String, String> map = Map.of("key", "value");
        String key = "key";
        BlockingReadWriteLock rw = AsyncReadWriteLock.create().blocking();
        String value = rw.read(() -> map.get(key));
        assertEquals("value", value);
    }

    @Test
    void channel_sendAndReceive_handOver() throws Exception {
        BlockingChannel<String> lines = AsyncChannel.<String>create(64).blocking();
        lines.send("one");
        String line = lines.receive(Duration.ofSeconds(1));
        assertEquals("one", line);
    }

    @Test
    void barrier_inRounds_opens() throws Exception {
        AsyncBarrier barrier = AsyncBarrier.create(1);
        int rounds = 3;
        for (int round = 0; round < rounds; round++) {
            compute(round);
            barrier.blocking().arrive();
        }
        assertEquals(3, computed);
    }

    @Test
    void latchAndWaitGroup_atZero_letPass() throws Exception {
        AsyncLatch ready = AsyncLatch.create(0);
        if (!ready.blocking().await(Duration.ofSeconds(5))) throw new IllegalStateException("not ready: " + ready);
        AsyncWaitGroup uploads = AsyncWaitGroup.create();
        uploads.blocking().await();
        assertEquals(0, uploads.count());
    }

    @Test
    void taskScheduler_call_runsTheTask() throws Exception {
        String url = "a";
        AsyncTaskScheduler scheduler = AsyncTaskScheduler.create(1);
        String page = scheduler.blocking().call(Priority.HIGH, () -> load(url));
        assertEquals("page of a", page);
        scheduler.close();
    }
}
