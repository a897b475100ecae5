package baton.interop;

import static baton.interop.Futures.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.Priority;
import baton.channels.ChannelClosedException;
import baton.scheduler.SchedulerClosedException;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

/** The code that users write. */
class JavaUsageTest {
    @Test
    void semaphore_asInTheUsage_compilesAndRuns() {
        AsyncSemaphore semaphore = AsyncSemaphore.create(10);
        AsyncSemaphore same = AsyncSemaphore.of(semaphore.kotlin());
        CompletableFuture<Permit> one = semaphore.acquire();
        CompletableFuture<Permit> three = semaphore.acquire(3);
        CompletableFuture<Permit> timed = semaphore.acquire(3, Duration.ofMillis(50));
        Optional<Permit> now = semaphore.tryAcquire();
        assertSame(semaphore.kotlin(), same.kotlin());
        assertEquals(2, same.availablePermits());
        assertInstanceOf(TimeoutException.class, Futures.awaitFailure(semaphore.acquire(3, Duration.ofMillis(50))));
        try (Permit permit = semaphore.acquire().join()) {
            assertTrue(permit.toString().startsWith("held: 1 permit of Semaphore"), permit.toString());
        }
        one.join().close();
        three.join().close();
        timed.join().close();
        now.orElseThrow().close();
        assertEquals(10, semaphore.availablePermits());
        assertEquals(0, semaphore.waiting());
        semaphore.resize(20);
        semaphore.close();
        semaphore.awaitIdle().join();
    }

    /** The request may fail where there is no network; in both cases the permit is released. */
    @Test
    void withPermit_aroundAnHttpCall_compilesAndReleases() {
        AsyncSemaphore semaphore = AsyncSemaphore.create(1);
        HttpClient client = HttpClient.newHttpClient();
        HttpRequest request =
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:9/")).build();
        CompletableFuture<String> body = semaphore.withPermit(
                () -> client.sendAsync(request, BodyHandlers.ofString()).thenApply(HttpResponse::body));
        assertInstanceOf(IOException.class, Futures.awaitFailure(body));
        assertEquals(1, semaphore.availablePermits());
    }

    @Test
    void mutex_asInTheUsage_compilesAndRuns() {
        AsyncMutex mutex = AsyncMutex.create();
        CompletableFuture<Permit> held = mutex.lock();
        CompletableFuture<Integer> locked = mutex.withLock(() -> CompletableFuture.completedFuture(1));
        held.join().close();
        assertEquals(1, await(locked));
    }

    @Test
    void readWriteLock_asInTheUsage_compilesAndRuns() {
        AsyncReadWriteLock rw = AsyncReadWriteLock.create();
        CompletableFuture<Permit> read = rw.read();
        CompletableFuture<Permit> write = rw.write();
        Map<String, Integer> cache = new HashMap<>();
        CompletableFuture<Void> stored = rw.withWrite(() -> store(cache, "x", 1));
        read.join().close();
        write.join().close();
        assertNull(await(stored));
        assertEquals(1, await(rw.withRead(() -> load(cache, "x"))));
        try (UpgradablePermit permit = rw.lockUpgradable().join()) {
            WritePermit writes = permit.upgrade().join();
            cache.clear();
            writes.downgrade();
        }
        assertEquals(0, rw.readers());
        assertFalse(rw.isWriteLocked());
        assertEquals(0, rw.waiting());
    }

    private static CompletableFuture<Integer> load(Map<String, Integer> cache, String key) {
        return CompletableFuture.completedFuture(cache.get(key));
    }

    private static CompletableFuture<Void> store(Map<String, Integer> cache, String key, int value) {
        return CompletableFuture.runAsync(() -> cache.put(key, value));
    }

    @Test
    void latchAndWaitGroup_asInTheUsage_compileAndRun() {
        AsyncLatch latch = AsyncLatch.create(3);
        CompletableFuture<Void> open = latch.await();
        CompletableFuture<Void> timed = latch.await(Duration.ofSeconds(30));
        for (int i = 0; i < 3; i++) latch.countDown();
        await(open);
        await(timed);
        AsyncWaitGroup group = AsyncWaitGroup.create();
        group.add(2);
        CompletableFuture<Void> zero = group.await();
        group.done();
        group.done();
        await(zero);
        assertEquals(0, latch.count() + group.count() + latch.waiting() + group.waiting());
    }

    @Test
    void barrier_asInTheUsage_compilesAndRuns() {
        CompletableFuture<Integer> index = AsyncBarrier.create(3).arrive();
        index.cancel(false);
        AsyncBarrier barrier = AsyncBarrier.create(2, () -> CompletableFuture.runAsync(() -> {}));
        CompletableFuture<Integer> first = barrier.arrive(Duration.ofSeconds(10));
        assertEquals(0, await(barrier.arrive()));
        assertEquals(1, await(first));
    }

    @Test
    void channel_asInTheUsage_compilesAndRuns() {
        AsyncChannel<String> channel = AsyncChannel.create(10);
        CompletableFuture<Void> sent = channel.send("x");
        CompletableFuture<String> received = channel.receive();
        assertNull(await(sent));
        assertEquals("x", await(received));
        channel.close();
        assertInstanceOf(ChannelClosedException.class, Futures.failure(channel.receive()));
    }

    @Test
    void select_asInTheUsage_compilesAndRuns() {
        AsyncChannel<String> channel = AsyncChannel.create(10);
        AsyncSemaphore semaphore = AsyncSemaphore.create(1);
        CompletableFuture<String> winner = Select.<String>first()
                .onReceive(channel, element -> element)
                .onAcquire(semaphore, permit -> {
                    try (permit) {
                        return "permit";
                    }
                })
                .onTimeout(Duration.ofMillis(50), () -> "late")
                .start();
        assertEquals("permit", await(winner));
        assertEquals(1, semaphore.availablePermits());
    }

    @Test
    void taskScheduler_asInTheUsage_compilesAndRuns() {
        AsyncTaskScheduler scheduler = AsyncTaskScheduler.create(3);
        CompletableFuture<String> done = scheduler.schedule(Priority.CRITICAL, () -> refreshToken());
        ExecutorService high = scheduler.executor(Priority.HIGH);
        CompletableFuture<Integer> command = CompletableFuture.supplyAsync(() -> 42, high);
        assertEquals("token", await(done));
        assertEquals(42, await(command));
        scheduler.close();
        assertInstanceOf(
                SchedulerClosedException.class,
                Futures.failure(scheduler.schedule(Priority.CRITICAL, () -> refreshToken())));
        assertThrows(RejectedExecutionException.class, () -> high.execute(() -> {}));
    }

    private static CompletableFuture<String> refreshToken() {
        return CompletableFuture.supplyAsync(() -> "token");
    }

    @Test
    void priorityExecutor_asUsersWriteIt_compilesAndRuns() {
        PriorityExecutor normal = PriorityExecutor.create(2);
        PriorityExecutor critical = normal.level(Priority.CRITICAL);
        assertEquals(1, await(CompletableFuture.supplyAsync(() -> 1, critical)));
        assertEquals(2, await(CompletableFuture.supplyAsync(() -> 2, normal)));
    }

    @Test
    void cancellableFuture_asInTheUsage_compilesAndReachesTheSource() {
        Executor never = task -> {};
        CancellableFuture<Integer> task = CancellableFuture.supply(never, token -> {
            token.onCancel(() -> {});
            return 42;
        });
        task.thenApply(String::valueOf).cancel(true);
        assertTrue(task.isCancelled());
    }
}
