package baton.interop.distributed;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.PermitTimeoutException;
import baton.distributed.InMemoryStore;
import baton.distributed.Lease;
import baton.distributed.LeaseLostException;
import baton.interop.AsyncCluster;
import baton.interop.AsyncDistributedMutex;
import baton.interop.AsyncDistributedRateLimiter;
import baton.interop.AsyncDistributedSemaphore;
import baton.interop.AsyncLeader;
import baton.resilience.RateLimiterClosedException;
import baton.sync.SemaphoreClosedException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The Java API of what members share, over a store in memory and in real time. */
@Timeout(120)
class DistributedFacesTest {
    private final InMemoryStore store = new InMemoryStore();
    private final List<AsyncCluster> clusters = new ArrayList<>();

    private AsyncCluster cluster(String name) {
        AsyncCluster cluster = AsyncCluster.builder(store)
                .lease(Duration.ofSeconds(2))
                .name(name)
                .namespace("shop")
                .open();
        clusters.add(cluster);
        return cluster;
    }

    @AfterEach
    void close() {
        clusters.forEach(AsyncCluster::close);
    }

    private static <T> T get(CompletableFuture<T> future) throws Exception {
        return future.get(120, TimeUnit.SECONDS);
    }

    private static Throwable failureOf(CompletableFuture<?> future) {
        return assertThrows(ExecutionException.class, () -> get(future)).getCause();
    }

    private static final class Table {
        long token;

        CompletableFuture<Void> write(String row, long newToken) {
            assertTrue(newToken > token);
            token = newToken;
            return CompletableFuture.completedFuture(null);
        }
    }

    /** The lines of the page, and those of the design, as they stand there but for the store. */
    @Test
    void linesOfTheDesign_work() throws Exception {
        Table table = new Table();
        String row = "42";
        try (AsyncCluster cluster = AsyncCluster.open(new InMemoryStore(), Duration.ofSeconds(10))) {
            AsyncDistributedSemaphore atMostFive = cluster.semaphore("uplink", 5);
            CompletableFuture<String> body = atMostFive.withPermit(() -> CompletableFuture.supplyAsync(() -> "body"));
            CompletableFuture<Void> written = atMostFive.withPermit(lease -> table.write(row, lease.fencingToken()));
            assertEquals("body", get(body));
            get(written);
            try (Lease lease = atMostFive.blocking().acquire(2, Duration.ofSeconds(50))) {
                lease.check();
                assertTrue(lease.isHeld());
            }
            cluster.rateLimiter("api", 100, Duration.ofSeconds(1), 20).acquire().get();
            get(cluster.shutdown());
        }
    }

    @Test
    void membersShareASemaphore_andATimeoutNamesTheHolder() throws Exception {
        AsyncDistributedSemaphore one = cluster("one").semaphore("uplink", 2);
        AsyncDistributedSemaphore other = cluster("other").semaphore("uplink", 2);
        Lease lease = get(one.acquire(2));
        assertEquals(Optional.empty(), get(other.tryAcquire()));
        Throwable late = failureOf(other.acquire(1, Duration.ofMillis(50)));
        assertInstanceOf(PermitTimeoutException.class, late);
        assertTrue(late.getMessage().contains("held by 'one'"), late.getMessage());
        assertThrows(PermitTimeoutException.class, () -> other.blocking().acquire(Duration.ZERO));
        CompletableFuture<Lease> waiting = other.acquire();
        lease.release();
        get(waiting).close();
        assertThrows(IllegalArgumentException.class, () -> one.acquire(3));
        assertThrows(IllegalArgumentException.class, () -> one.acquire(0));
    }

    @Test
    void withLock_runsOneActionAtATime_andThrowsWhatItThrows() throws Exception {
        AsyncDistributedMutex one = cluster("one").mutex("account");
        AsyncDistributedMutex other = cluster("other").mutex("account");
        AtomicInteger inside = new AtomicInteger();
        List<CompletableFuture<Integer>> calls = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            AsyncDistributedMutex mutex = i % 2 == 0 ? one : other;
            calls.add(mutex.withLock(() -> {
                assertEquals(1, inside.incrementAndGet());
                return CompletableFuture.supplyAsync(inside::decrementAndGet);
            }));
        }
        for (CompletableFuture<Integer> call : calls) assertEquals(0, get(call));
        IllegalArgumentException failure = new IllegalArgumentException("of the action");
        Throwable thrown = failureOf(one.withLock(lease -> {
            throw failure;
        }));
        assertTrue(thrown == failure || thrown.getCause() == failure, thrown.toString());
        Throwable failed = failureOf(one.withLock(() -> CompletableFuture.failedFuture(failure)));
        assertTrue(failed == failure || failed.getCause() == failure, failed.toString());
        CompletableFuture<Void> stage = new CompletableFuture<>();
        CompletableFuture<Void> cancelledByItself = one.withLock(() -> stage);
        stage.cancel(false);
        assertThrows(CancellationException.class, () -> get(cancelledByItself));
        get(other.lock()).close();
        assertEquals("done", other.blocking().call(() -> "done"));
        assertEquals("other", other.holder().orElseThrow().getMember());
    }

    @Test
    void cancelledCall_cancelsItsStage_andReleases() throws Exception {
        AsyncDistributedMutex mutex = cluster("one").mutex("account");
        CompletableFuture<Void> stage = new CompletableFuture<>();
        CountDownLatch begun = new CountDownLatch(1);
        CompletableFuture<Void> call = mutex.withLock(lease -> {
            begun.countDown();
            return stage;
        });
        assertTrue(begun.await(120, TimeUnit.SECONDS));
        assertTrue(call.cancel(false));
        assertThrows(CancellationException.class, stage::join);
        get(mutex.lock()).close();
    }

    @Test
    void orTimeout_withdrawsTheRequest_andCompletesWithIt() throws Exception {
        AsyncDistributedMutex mutex = cluster("one").mutex("account");
        Lease held = get(mutex.lock());
        assertInstanceOf(TimeoutException.class, failureOf(mutex.lock().orTimeout(20, TimeUnit.MILLISECONDS)));
        assertEquals(0, mutex.waiting());
        held.close();
        get(mutex.lock()).close();
    }

    @Test
    void lostLease_cancelsTheStage_andFailsTheCall() throws Exception {
        AsyncCluster cluster = cluster("one");
        AsyncDistributedSemaphore semaphore = cluster.semaphore("uplink", 1);
        CompletableFuture<Void> stage = new CompletableFuture<>();
        CountDownLatch begun = new CountDownLatch(1);
        CompletableFuture<Void> call = semaphore.withPermit(lease -> {
            begun.countDown();
            return stage;
        });
        assertTrue(begun.await(120, TimeUnit.SECONDS));
        cluster.close();
        assertInstanceOf(LeaseLostException.class, failureOf(call));
        assertTrue(stage.isCancelled());
        assertInstanceOf(SemaphoreClosedException.class, failureOf(semaphore.acquire()));
        assertInstanceOf(RateLimiterClosedException.class, failureOf(closedLimiter()));
    }

    private CompletableFuture<?> closedLimiter() {
        AsyncCluster closed = cluster("closed");
        AsyncDistributedRateLimiter limiter = closed.rateLimiter("api", 1, Duration.ofSeconds(1));
        closed.close();
        return limiter.acquire();
    }

    @Test
    void limiter_grantsItsBurst_andNamesTheTimeOfTheNext() throws Exception {
        AsyncDistributedRateLimiter limiter = cluster("one").rateLimiter("api", 1, Duration.ofMinutes(1), 3);
        get(limiter.acquire(2));
        assertEquals("done", get(limiter.withPermit(() -> CompletableFuture.completedFuture("done"))));
        assertFalse(get(limiter.tryAcquire()));
        assertFalse(limiter.blocking().tryAcquire(1, Duration.ofMillis(5)));
        Throwable late = failureOf(limiter.acquire(Duration.ofMillis(10)));
        Duration retryIn = assertInstanceOf(PermitTimeoutException.class, late).retryIn();
        assertNotNull(retryIn);
        assertTrue(retryIn.toSeconds() >= 50, "retryIn = " + retryIn);
        assertThrows(IllegalArgumentException.class, () -> limiter.acquire(4));
        limiter.update(1_000, Duration.ofSeconds(1), 3);
        limiter.blocking().acquire(3);
    }

    @Test
    void leader_runsItsAction_andTheNextMemberAfterACancel() throws Exception {
        AsyncLeader one = cluster("one").leader("cleaner");
        AsyncLeader other = cluster("other").leader("cleaner");
        CompletableFuture<Void> stage = new CompletableFuture<>();
        CountDownLatch begun = new CountDownLatch(1);
        CompletableFuture<Void> leading = one.run(lease -> {
            begun.countDown();
            return stage;
        });
        assertTrue(begun.await(120, TimeUnit.SECONDS));
        assertTrue(one.isLeader());
        CompletableFuture<String> next = other.run(lease -> CompletableFuture.completedFuture("done"));
        leading.cancel(false);
        assertEquals("done", get(next));
        assertTrue(stage.isCancelled());
        assertFalse(one.isLeader());
    }

    @Test
    void interruptedThread_holdsNothing() throws Exception {
        AsyncDistributedMutex mutex = cluster("one").mutex("account");
        Lease held = get(mutex.lock());
        AtomicReference<Throwable> end = new AtomicReference<>();
        Thread thread = new Thread(() -> {
            try {
                mutex.blocking().lock().close();
            } catch (Throwable e) {
                end.set(e);
            }
        });
        thread.start();
        while (mutex.waiting() == 0) Thread.onSpinWait();
        thread.interrupt();
        thread.join(120_000);
        assertInstanceOf(InterruptedException.class, end.get());
        held.close();
        get(mutex.lock()).close();
    }

    /** Requests that are cancelled at about the moment of their grant. */
    private void race(int rounds, Supplier<CompletableFuture<?>> request, Supplier<Runnable> hold) throws Exception {
        Random random = new Random(1);
        for (int i = 0; i < rounds; i++) {
            Runnable release = hold.get();
            CompletableFuture<?> future = request.get();
            Thread releasing = new Thread(release);
            releasing.start();
            long end = System.nanoTime() + random.nextLong(300_000);
            while (System.nanoTime() < end) Thread.onSpinWait();
            if (!future.cancel(false)) {
                try {
                    Object value = future.join();
                    if (value instanceof Optional<?> optional) value = optional.orElse(null);
                    if (value instanceof Lease lease) lease.release();
                } catch (CompletionException | CancellationException e) {
                    throw new AssertionError("not cancelled, and failed", e);
                }
            }
            releasing.join();
        }
    }

    private static Lease held(CompletableFuture<Lease> lease) {
        return lease.orTimeout(120, TimeUnit.SECONDS).join();
    }

    @Test
    void acquiresCancelledAroundTheirGrant_leaveNothing() throws Exception {
        AsyncDistributedSemaphore one = cluster("one").semaphore("uplink", 2);
        AsyncDistributedSemaphore other = cluster("other").semaphore("uplink", 2);
        race(200, other::acquire, () -> held(one.acquire(2))::release);
        race(100, one::acquire, () -> held(one.acquire(2))::release);
        held(other.acquire(2)).close();
        held(one.acquire(2)).close();
        assertEquals(0, one.waiting() + other.waiting());
    }

    @Test
    void locksCancelledAroundTheirGrant_leaveNothing() throws Exception {
        AsyncDistributedMutex one = cluster("one").mutex("account");
        AsyncDistributedMutex other = cluster("other").mutex("account");
        race(200, other::lock, () -> held(one.lock())::release);
        race(100, () -> other.withLock(() -> CompletableFuture.completedFuture(1)), () -> held(one.lock())::release);
        race(100, other::tryLock, () -> held(one.lock())::release);
        held(other.lock()).close();
        held(one.lock()).close();
        assertEquals(0, one.waiting() + other.waiting());
    }

    @Test
    void acquiresOfALimiterCancelledAroundTheirGrant_takeNothing() throws Exception {
        AsyncDistributedRateLimiter limiter = cluster("one").rateLimiter("api", 10_000, Duration.ofSeconds(1), 5);
        race(200, () -> limiter.acquire(3), () -> {
            limiter.acquire(5).orTimeout(120, TimeUnit.SECONDS).join();
            return () -> {};
        });
        get(limiter.acquire(5));
        assertEquals(0, limiter.waiting());
    }

    @Test
    void leadersCancelledAroundTheirTurn_leaveNothing() throws Exception {
        AsyncLeader one = cluster("one").leader("cleaner");
        AsyncLeader other = cluster("other").leader("cleaner");
        race(100, () -> other.run(lease -> CompletableFuture.completedFuture(1)), () -> {
            CompletableFuture<Void> stage = new CompletableFuture<>();
            CountDownLatch begun = new CountDownLatch(1);
            CompletableFuture<Void> unused = one.run(lease -> {
                begun.countDown();
                return stage;
            });
            try {
                assertTrue(begun.await(120, TimeUnit.SECONDS));
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            return () -> stage.complete(null);
        });
        assertEquals(1, (int) get(other.run(lease -> CompletableFuture.completedFuture(1))));
    }
}
