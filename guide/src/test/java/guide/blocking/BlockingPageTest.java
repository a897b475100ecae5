package guide.blocking;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.PermitTimeoutException;
import baton.channels.ChannelClosedException;
import baton.interop.AsyncChannel;
import baton.interop.AsyncMutex;
import baton.interop.AsyncPipeline;
import baton.interop.AsyncReadWriteLock;
import baton.interop.AsyncRetry;
import baton.interop.AsyncSchedule;
import baton.interop.AsyncSemaphore;
import baton.interop.BlockingChannel;
import baton.interop.BlockingMutex;
import baton.interop.BlockingPipeline;
import baton.interop.BlockingReadWriteLock;
import baton.interop.BlockingSemaphore;
import baton.interop.CancellableFuture;
import baton.interop.Permit;
import baton.interop.TaskScope;
import baton.interop.Tasks;
import baton.interop.Triggers;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The code of docs/java-blocking.md. Its threads are those of a pool: the bytecode is that of JDK 17. */
class BlockingPageTest {
    private static final class Client {
        String get(String path) {
            return "page of " + path;
        }
    }

    private final Client client = new Client();
    private final ExecutorService threads = Executors.newCachedThreadPool();

    @AfterEach
    void shutdown() {
        threads.shutdownNow();
    }

    private final BlockingSemaphore uplink = AsyncSemaphore.create(5, "uplink").blocking();

    String fetch(String path) throws Exception {
        return uplink.call(() -> client.get(path));
    }

    Optional<String> fetchInTime(String path) throws Exception {
        try {
            return Optional.of(uplink.call(Duration.ofMillis(100), () -> client.get(path)));
        } catch (PermitTimeoutException e) {
            return Optional.empty(); // no permit within 100 ms; nothing is held
        }
    }

    void upload(List<String> files) throws InterruptedException {
        try (Permit two = uplink.acquire(2)) {
            files.forEach(file -> log(two + " for " + file));
        }
    }

    private void log(String line) {
        assertFalse(line.isEmpty());
    }

    @Test
    void permits_areGivenBack() throws Exception {
        assertEquals("page of /a", fetch("/a"));
        upload(List.of("a", "b"));
        Permit all = uplink.acquire(5);
        assertEquals(Optional.empty(), fetchInTime("/a"));
        all.close();
        assertEquals(Optional.of("page of /a"), fetchInTime("/a"));
    }

    private final ArrayDeque<String> items = new ArrayDeque<>();

    private final Lock lock = AsyncMutex.create("items").blocking();
    private final Condition notEmpty = lock.newCondition();

    String take() throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (items.isEmpty()) notEmpty.await();
            return items.remove();
        } finally {
            lock.unlock();
        }
    }

    void put(String item) {
        lock.lock();
        try {
            items.add(item);
            notEmpty.signal();
        } finally {
            lock.unlock();
        }
    }

    @Test
    void lock_isThatOfTheJdk() throws Exception {
        Future<String> taken = threads.submit(this::take);
        put("a");
        assertEquals("a", taken.get());
        lock.lock();
        assertThrows(IllegalStateException.class, lock::lock); // not reentrant
        lock.unlock();
        assertTrue(lock.tryLock(10, MILLISECONDS));
        lock.unlock();
    }

    private final AsyncMutex mutex = AsyncMutex.create("account 42");
    private final BlockingMutex account = mutex.blocking();
    private long balance;

    void deposit(long amount) throws InterruptedException, PermitTimeoutException {
        try (Permit held = account.acquire(Duration.ofMillis(100))) {
            balance += amount;
            log(held + ": " + balance);
        }
    }

    @Test
    void permit_ofAMutex_isGivenBack() throws Exception {
        deposit(5);
        try (Permit held = mutex.lock().join()) {
            assertThrows(PermitTimeoutException.class, () -> deposit(5));
            assertTrue(held.isHeld());
        }
        deposit(5);
        assertEquals(10, balance);
    }

    private int price = 3;

    @Test
    void readers_readTogether() throws Exception {
        BlockingReadWriteLock prices = AsyncReadWriteLock.create("prices").blocking();
        int before = prices.read(() -> price);
        prices.write(() -> price = before + 1);
        assertEquals(4, price);
    }

    private final BlockingChannel<String> jobs = AsyncChannel.<String>create(16).blocking();

    void consume() throws InterruptedException {
        try {
            while (true) log(jobs.receive());
        } catch (ChannelClosedException e) {
            // all elements have been received
        }
    }

    void end() {
        jobs.close(); // consume() returns after the last element; cancel() would drop those inside
    }

    @Test
    void channel_isDrainedAfterItsClose() throws Exception {
        AsyncChannel<String> channel = AsyncChannel.create(16);
        channel.blocking().send("a");
        channel.close();
        assertEquals("a", channel.blocking().receive());
        assertThrows(ChannelClosedException.class, channel.blocking()::receive);
        Future<?> consumer = threads.submit(() -> {
            consume();
            return null;
        });
        jobs.send("b");
        end();
        consumer.get(60, SECONDS);
    }

    private final BlockingPipeline billing = AsyncPipeline.builder("billing")
            .retry(AsyncRetry.builder().maxAttempts(3).build())
            .semaphore(AsyncSemaphore.create(10))
            .attemptTimeout(Duration.ofSeconds(2)) // interrupts the attempt
            .build()
            .blocking();

    String invoice(String id) throws Exception {
        return billing.call(() -> client.get("/invoices/" + id), e -> "no invoice now");
    }

    List<String> fetchAll(List<String> paths) throws Exception {
        return Tasks.blocking().mapLimit(paths, 5, client::get);
    }

    List<String> userAndCart() throws Exception {
        try (TaskScope scope = TaskScope.open(threads)) { // on JDK 21: TaskScope.openVirtual()
            CancellableFuture<String> user = scope.fork(() -> client.get("/user"));
            CancellableFuture<String> cart = scope.fork(() -> client.get("/cart"));
            scope.join(); // the first failure cancels the other
            return List.of(user.join(), cart.join());
        }
    }

    @Test
    void calls_thatBlock() throws Exception {
        assertEquals("page of /invoices/7", invoice("7"));
        assertEquals(List.of("page of /a", "page of /b"), fetchAll(List.of("/a", "/b")));
        assertEquals(List.of("page of /user", "page of /cart"), userAndCart());
    }

    @Test
    void schedule_withActionsThatBlock() throws Exception {
        CountDownLatch ran = new CountDownLatch(1);
        List<String> keys = new ArrayList<>();
        AsyncSchedule<String> schedule = AsyncSchedule.<String>blockingBuilder(due -> {
                    keys.add(due.getKey());
                    ran.countDown();
                })
                .start();
        schedule.put("clean up", Triggers.every(Duration.ofHours(1)));
        schedule.triggerNow("clean up");
        ran.await();
        schedule.close(); // waits for what runs
        assertEquals(List.of("clean up"), keys);
    }
}
