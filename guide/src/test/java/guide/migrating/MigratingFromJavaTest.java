package guide.migrating;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.Priority;
import baton.channels.ChannelClosedException;
import baton.channels.ChannelOrder;
import baton.channels.OnFull;
import baton.interop.AsyncBarrier;
import baton.interop.AsyncChannel;
import baton.interop.AsyncCircuitBreaker;
import baton.interop.AsyncLatch;
import baton.interop.AsyncMutex;
import baton.interop.AsyncRateLimiter;
import baton.interop.AsyncReadWriteLock;
import baton.interop.AsyncRetry;
import baton.interop.AsyncSchedule;
import baton.interop.AsyncSemaphore;
import baton.interop.AsyncTaskScheduler;
import baton.interop.AsyncWaitGroup;
import baton.interop.BlockingChannel;
import baton.interop.CancellableFuture;
import baton.interop.Permit;
import baton.interop.PriorityExecutor;
import baton.interop.Select;
import baton.interop.TaskScope;
import baton.interop.Tasks;
import baton.interop.Triggers;
import baton.parallel.Outcome;
import baton.resilience.BreakerState;
import baton.scheduler.OnFullQueue;
import baton.sync.BarrierCancellation;
import baton.sync.WaitOrder;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;

/** The Java code of docs/MIGRATING.md; {@code MarkdownTest} compares the two. */
class MigratingFromJavaTest {
    private final Executor executor = Runnable::run;

    private static String load() {
        return "loaded";
    }

    private static CompletableFuture<String> call() {
        return CompletableFuture.completedFuture("called");
    }

    @Test
    void table_locks() throws Exception {
        AsyncMutex mutex = AsyncMutex.create("account");
        Lock lock = mutex.blocking();
        assertTrue(lock.tryLock());
        lock.unlock();
        assertFalse(mutex.isLocked());
        mutex.blocking().newCondition();
        mutex.newCondition();
        AsyncSemaphore uplink = AsyncSemaphore.create(5, "uplink");
        try (Permit permit = uplink.blocking().acquire(2, Duration.ofMillis(50))) {
            assertTrue(permit.isHeld());
        }
        assertEquals(Optional.of(true), uplink.blocking().tryAcquire().map(Permit::isHeld));
        ReadWriteLock cache = AsyncReadWriteLock.create("cache").blocking();
        cache.readLock().lock();
        cache.readLock().unlock();
        AsyncSemaphore.create(5, WaitOrder.UNFAIR, "uplink");
    }

    @Test
    void table_coordination() throws Exception {
        AsyncBarrier barrier = AsyncBarrier.create(1);
        assertEquals(0, barrier.blocking().arrive());
        AsyncLatch latch = AsyncLatch.create(1);
        latch.countDown();
        latch.blocking().await();
        AsyncWaitGroup group = AsyncWaitGroup.create();
        group.add();
        group.done();
        group.blocking().await();
    }

    @Test
    void table_queues() throws Exception {
        AsyncChannel<String> channel = AsyncChannel.create(64, "lines");
        BlockingChannel<String> lines = channel.blocking();
        lines.send("x");
        assertTrue(lines.trySend("y"));
        assertEquals("x", lines.receive());
        assertEquals(Optional.of("y"), lines.tryReceive());
        AsyncChannel<String> handOff = AsyncChannel.create(0);
        assertFalse(handOff.trySend("x"));
        AsyncChannel.<String>create(64, ChannelOrder.PRIORITY, OnFull.SUSPEND, "jobs");
        channel.publisher();
        channel.forEach(System.out::println);
        channel.close();
    }

    private static CompletableFuture<String> fetch(String url) {
        return CompletableFuture.completedFuture("page of " + url);
    }

    private static String load(String url) throws IOException {
        if (url.isEmpty()) throw new IOException("no url");
        return "page of " + url;
    }

    @Test
    void table_maps() throws Exception {
        List<String> urls = List.of("/a", "/b");
        CompletableFuture<List<String>> pages = Tasks.mapLimit(urls, 5, url -> fetch(url));
        assertEquals(List.of("page of /a", "page of /b"), pages.join());
        List<Outcome<String>> outcomes = Tasks.blocking(executor).mapSettled(urls, 5, url -> load(url));
        assertEquals(new Outcome.Success<>("page of /b"), outcomes.get(1));
    }

    @Test
    void table_retries() throws Exception {
        AsyncRetry retry = AsyncRetry.builder()
                .maxAttempts(3)
                .exponential(Duration.ofMillis(500), Duration.ofSeconds(30))
                .retryIf(e -> true)
                .build();
        assertEquals("called", retry.call(() -> call()).join());
        assertEquals("loaded", retry.blocking().call(() -> load()));
        CompletableFuture<String> full =
                retry.call(() -> call(), result -> result.isEmpty(), result -> Optional.empty());
        assertEquals("called", full.join());
        AsyncRetry.builder()
                .constant(Duration.ofSeconds(1))
                .jitter(0.1)
                .maxElapsed(Duration.ofMinutes(1))
                .build();
    }

    @Test
    void table_futuresAndExecutors() {
        CompletableFuture<String> stage = call();
        assertEquals("called", CancellableFuture.of(stage).join());
        assertEquals("loaded", CancellableFuture.supplyAsync(() -> load()).join());
        Select<String> first = Select.<String>first().onFuture(stage, value -> value);
        assertEquals("called", first.start().join());
        PriorityExecutor pool = PriorityExecutor.create(4);
        pool.level(Priority.HIGH).execute(() -> {});
        pool.shutdown();
        PriorityExecutor.over(executor, 1).shutdown();
        AsyncTaskScheduler scheduler = AsyncTaskScheduler.create(4);
        ExecutorService urgent = scheduler.executor(Priority.HIGH);
        assertFalse(urgent.isShutdown());
        scheduler.close();
        try (TaskScope scope = TaskScope.open(executor)) {
            assertEquals("loaded", scope.fork(() -> load()).join());
        }
    }

    @Test
    void table_schedules() {
        try (AsyncSchedule<String> checks =
                AsyncSchedule.<String>builder(due -> call()).start()) {
            checks.put("a", Triggers.every(Duration.ofMinutes(2)));
            checks.put("b", Triggers.fixedDelay(Duration.ofSeconds(30)));
            checks.put("c", Triggers.at(Instant.now().plusSeconds(5)));
            assertTrue(checks.remove("a"));
        }
    }

    @Test
    void table_bulkheads() throws Exception {
        AsyncSemaphore backend = AsyncSemaphore.create(25, "backend");
        assertEquals("called", backend.withPermit(() -> call()).join());
        assertEquals(
                "called",
                backend.withPermit(() -> call(), Duration.ofMillis(50)).join());
        assertEquals("loaded", backend.blocking().call(() -> load()));
        assertTrue(backend.tryAcquire().isPresent());
        backend.resize(10);
        assertEquals(9, backend.availablePermits());
        assertEquals(0, backend.waiting());
        AsyncCircuitBreaker breaker = AsyncCircuitBreaker.create("backend");
        List<Object> log = new ArrayList<>();
        breaker.onChange((from, to) -> log.add(to));
        assertEquals("called", breaker.protect(() -> call()).join());
        breaker.trip();
        assertEquals(List.of(BreakerState.FORCED_OPEN), log);
        AsyncTaskScheduler.builder(10).capacity(100, OnFullQueue.REJECT).build().close();
    }

    @Test
    void lock_isNotReentrant() {
        Lock lock = AsyncMutex.create("account").blocking();
        lock.lock();
        assertThrows(IllegalStateException.class, lock::lock); // a ReentrantLock counts
        lock.unlock();
        ReentrantLock theirs = new ReentrantLock();
        theirs.lock();
        theirs.lock();
        assertEquals(2, theirs.getHoldCount());
    }

    @Test
    void permit_isGivenBackByItsHolder() throws Exception {
        AsyncSemaphore uplink = AsyncSemaphore.create(5, "uplink");
        Permit permit = uplink.blocking().acquire(2);
        permit.close(); // both permits
        permit.close(); // does nothing
        assertEquals(5, uplink.availablePermits());
    }

    @Test
    void noPermits_areAGate() {
        AsyncSemaphore gate = AsyncSemaphore.create(0);
        CompletableFuture<Permit> first = gate.acquire();
        assertFalse(first.isDone());
        gate.resize(5); // opens it for five
        assertTrue(first.join().isHeld());
        assertEquals(4, gate.availablePermits());
    }

    @Test
    void resize_toLessThanIsHeld_doesNotWait() throws Exception {
        AsyncSemaphore backend = AsyncSemaphore.create(10, "backend");
        Permit held = backend.blocking().acquire(10);
        backend.resize(4); // a Bulkhead waits here for six calls
        held.close();
        assertEquals(4, backend.availablePermits());
    }

    @Test
    void limiter_startsFull() {
        Duration per = Duration.ofDays(1);
        assertEquals(10, AsyncRateLimiter.tokenBucket(10, per).availablePermits());
        AsyncRateLimiter limiter = AsyncRateLimiter.tokenBucket(10, per);
        limiter.tryAcquire(9); // one is left, as in a new RateLimiter of Guava
        assertTrue(limiter.tryAcquire());
        assertFalse(limiter.tryAcquire());
    }

    @Test
    void get_withATimeout_losesThePermit() throws Exception {
        AsyncSemaphore uplink = AsyncSemaphore.create(1, "uplink");
        Permit held = uplink.blocking().acquire();
        CompletableFuture<Permit> request = uplink.acquire();
        assertThrows(TimeoutException.class, () -> request.get(20, TimeUnit.MILLISECONDS)); // request still waits
        held.close();
        assertTrue(request.join().isHeld()); // and holds the permit now
        assertEquals(0, uplink.availablePermits());
        Duration wait = Duration.ofMillis(20);
        assertThrows(TimeoutException.class, () -> uplink.blocking().acquire(wait)); // has withdrawn its request
        assertEquals(0, uplink.waiting());
    }

    @Test
    void party_thatTimesOut_takesItsArrivalBack() throws Exception {
        AsyncBarrier barrier = AsyncBarrier.create(3);
        assertThrows(TimeoutException.class, () -> barrier.blocking().arrive(Duration.ZERO));
        assertFalse(barrier.isBroken()); // a CyclicBarrier breaks for all
        AsyncBarrier likeTheirs = AsyncBarrier.create(3, BarrierCancellation.BREAK, "rounds");
        assertThrows(TimeoutException.class, () -> likeTheirs.blocking().arrive(Duration.ZERO));
        assertTrue(likeTheirs.isBroken());
        CyclicBarrier theirs = new CyclicBarrier(3);
        assertThrows(TimeoutException.class, () -> theirs.await(0, TimeUnit.MILLISECONDS));
        assertThrows(BrokenBarrierException.class, theirs::await);
    }

    @Test
    void channel_hasAnEnd() throws Exception {
        AsyncChannel<String> lines = AsyncChannel.create(64, "lines");
        lines.send("last");
        lines.close();
        assertEquals("last", lines.blocking().receive());
        assertThrows(ChannelClosedException.class, lines.blocking()::tryReceive); // an empty queue: null
        assertEquals(null, new ArrayBlockingQueue<String>(1).poll());
    }

    @Test
    void cancel_ofADerivedStage_reachesTheWorkOnlyIfItIsCancellable() {
        AsyncSemaphore uplink = AsyncSemaphore.create(1, "uplink");
        uplink.tryAcquire();
        CompletableFuture<Boolean> derived = uplink.acquire().thenApply(Permit::isHeld);
        derived.cancel(true);
        assertEquals(1, uplink.waiting()); // the acquire still waits
        CancellableFuture<Boolean> linked =
                CancellableFuture.of(uplink.acquire()).thenApply(Permit::isHeld);
        linked.cancel(true); // reaches the acquire, as in Guava
        assertEquals(1, uplink.waiting());
    }

    @Test
    void publisher_givesEachElementToOneSubscriber() {
        AsyncChannel<String> lines = AsyncChannel.create(64, "lines");
        List<String> seen = new java.util.concurrent.CopyOnWriteArrayList<>();
        CompletableFuture<Void> one = lines.forEach(seen::add);
        CompletableFuture<Void> two = lines.forEach(seen::add);
        lines.send("x"); // to one of them; a SubmissionPublisher sends it to both
        lines.close();
        CompletableFuture.allOf(one, two).join();
        assertEquals(List.of("x"), seen);
    }

    @Test
    void bulkhead_thatIsFull_waitsUnlessToldNotTo() {
        AsyncSemaphore backend = AsyncSemaphore.create(1, "backend");
        Permit held = backend.tryAcquire().orElseThrow();
        CompletableFuture<String> waits = backend.withPermit(() -> call());
        CompletableFuture<String> refused = backend.withPermit(() -> call(), Duration.ZERO); // a Bulkhead's default
        assertInstanceOf(TimeoutException.class, refused.handle((value, e) -> e).join());
        assertFalse(waits.isDone());
        held.close();
        assertSame("called", waits.join());
    }

    @Test
    void table_rateLimiters() throws Exception {
        AsyncRateLimiter limiter = AsyncRateLimiter.tokenBucket(10, Duration.ofSeconds(1));
        limiter.blocking().acquire();
        assertEquals("called", limiter.withPermit(() -> call()).join());
    }
}
