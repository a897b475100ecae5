package baton.interop.monitoring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.batch.ConcurrencyConfig;
import baton.interop.AsyncBarrier;
import baton.interop.AsyncBatchProcessor;
import baton.interop.AsyncChannel;
import baton.interop.AsyncCircuitBreaker;
import baton.interop.AsyncCondition;
import baton.interop.AsyncLatch;
import baton.interop.AsyncMonitor;
import baton.interop.AsyncMutex;
import baton.interop.AsyncRateLimiter;
import baton.interop.AsyncReadWriteLock;
import baton.interop.AsyncSchedule;
import baton.interop.AsyncSemaphore;
import baton.interop.AsyncTaskScheduler;
import baton.interop.AsyncWaitGroup;
import baton.interop.Permit;
import baton.monitoring.Alert;
import baton.monitoring.AlertRules;
import baton.monitoring.Usage;
import baton.parallel.MemoryGate;
import baton.resilience.RetryBudget;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
class AsyncMonitorTest {
    private static final Duration OFTEN = Duration.ofMillis(1);
    private static final AlertRules AT_ONCE = AsyncMonitor.rules(0.70, 0.60, Duration.ZERO, Duration.ofDays(1));
    private static final Duration NEVER = Duration.ofDays(1);

    private final BlockingQueue<Alert> alerts = new LinkedBlockingQueue<>();

    private Alert next() throws InterruptedException {
        Alert alert = alerts.poll(120, TimeUnit.SECONDS);
        if (alert == null) throw new AssertionError("no alert");
        return alert;
    }

    @Test
    void monitor_raisesAndClears() throws Exception {
        AsyncSemaphore semaphore = AsyncSemaphore.create(1);
        AtomicInteger active = new AtomicInteger();
        try (AsyncMonitor monitor = AsyncMonitor.start(OFTEN, AT_ONCE, alerts::add)) {
            monitor.watch("uplink", semaphore);
            monitor.watch("pool", () -> AsyncMonitor.usage(active.get(), 10));
            Permit permit = semaphore.acquire().join();
            Alert raised = next();
            assertEquals(Alert.Kind.UTILISATION, raised.getKind());
            assertEquals("uplink", raised.getSource());
            assertTrue(raised.getRaised());
            active.set(7);
            assertEquals("pool", next().getSource());
            assertEquals(2, monitor.active().size());
            permit.close();
            Alert cleared = next();
            assertEquals("uplink", cleared.getSource());
            assertEquals(false, cleared.getRaised());
        }
    }

    @Test
    void monitor_exampleOfTheClass_raisesAnAlert() throws Exception {
        AsyncSemaphore semaphore = AsyncSemaphore.create(5);
        Pool pool = new Pool(7);
        AlertRules rules = AsyncMonitor.rules(0.70, 0.60, Duration.ofMillis(2), Duration.ofSeconds(30));
        try (AsyncMonitor monitor = AsyncMonitor.start(OFTEN, rules, alert -> log(alert))) {
            monitor.watch("uplink", semaphore);
            monitor.watch("pool", () -> AsyncMonitor.usage(pool.active(), 10));
            assertEquals("UTILISATION of pool raised", next().toString().split(":")[0]);
        }
    }

    private record Pool(int active) {}

    private void log(Alert alert) {
        alerts.add(alert);
    }

    @Test
    void usage_namesThreadsAndFutures() throws Exception {
        AsyncMutex mutex = AsyncMutex.create();
        Permit held = mutex.lock().join();
        CompletableFuture<Permit> plain = mutex.lock();
        CompletableFuture<Permit> owned = mutex.ownedBy("account 7").lock();
        Thread thread = new Thread(
                () -> {
                    mutex.blocking().lock();
                    mutex.blocking().unlock();
                },
                "import-1");
        thread.start();
        while (mutex.kotlin().getWaiting() < 3) Thread.onSpinWait();
        Usage usage = mutex.kotlin().usage();
        List<String> names = usage.getWaiters();
        assertTrue(names.get(0).matches("future@[0-9a-f]+ of lock"), names::toString);
        assertEquals(List.of("account 7", "import-1"), names.subList(1, 3));
        assertTrue(usage.longestWait().compareTo(Duration.ZERO) > 0);
        held.close();
        plain.join().close();
        owned.join().close();
        thread.join();
    }

    @Test
    void watch_ofEachType_isInTheSnapshot() throws Exception {
        try (AsyncMonitor monitor = AsyncMonitor.start(NEVER, AsyncMonitor.rules(), alerts::add);
                AsyncSchedule<String> schedule = AsyncSchedule.<String>builder(
                                due -> CompletableFuture.completedFuture(null))
                        .maxConcurrency(3)
                        .start()) {
            AsyncSemaphore semaphore = AsyncSemaphore.create(4);
            AsyncMutex mutex = AsyncMutex.create();
            AsyncReadWriteLock lock = AsyncReadWriteLock.create();
            AsyncBarrier barrier = AsyncBarrier.create(12);
            AsyncLatch latch = AsyncLatch.create(11);
            AsyncWaitGroup group = AsyncWaitGroup.create();
            AsyncCondition condition = mutex.newCondition();
            AsyncChannel<String> channel = AsyncChannel.create(5);
            AsyncRateLimiter limiter =
                    AsyncRateLimiter.builder(1, NEVER).burst(6).build();
            AsyncCircuitBreaker breaker = AsyncCircuitBreaker.create("store");
            AsyncBatchProcessor batch = AsyncBatchProcessor.create(new ConcurrencyConfig());
            AsyncTaskScheduler scheduler = AsyncTaskScheduler.create(7);
            MemoryGate gate = MemoryGate.create();
            RetryBudget budget = new RetryBudget(0.2, 8);
            monitor.watch("semaphore", semaphore);
            monitor.watch("mutex", mutex);
            monitor.watch("lock", lock);
            monitor.watch("barrier", barrier);
            monitor.watch("latch", latch);
            monitor.watch("group", group);
            monitor.watch("condition", condition);
            monitor.watch("channel", channel);
            monitor.watch("limiter", limiter);
            monitor.watch("breaker", breaker);
            monitor.watch("batch", batch);
            monitor.watch("scheduler", scheduler);
            monitor.watch("schedule", schedule);
            monitor.watch("gate", gate);
            monitor.watch("budget", budget);
            AutoCloseable pool = monitor.watch("pool", () -> AsyncMonitor.usage(1, 9, 2, Duration.ofSeconds(3)));
            var snapshot = monitor.snapshot();
            var expected = List.of(4L, 1L, 1L, 12L, 11L, (long) Integer.MAX_VALUE, 0L, 5L, 6L, 1L, 10L, 7L, 3L, 8L, 9L);
            var seen = snapshot.entrySet().stream()
                    .filter(entry -> !entry.getKey().equals("gate"))
                    .map(entry -> entry.getValue().getCapacity())
                    .toList();
            assertEquals(expected, seen);
            assertEquals(Duration.ofSeconds(3), snapshot.get("pool").longestWait());
            assertEquals(2, snapshot.get("pool").getWaiting());
            pool.close();
            assertEquals(15, monitor.snapshot().size());
            assertEquals("budget", monitor.snapshot().keySet().toArray()[14]);
            assertSame(monitor.kotlin(), AsyncMonitor.of(monitor.kotlin()).kotlin());
            assertEquals(NEVER, monitor.every());
            assertEquals("AsyncMonitor (every = 1d, watches = 15, alerts = 0)", monitor.toString());
            // The monitor holds its sources weakly, so the test uses them until here.
            assertEquals(List.of(0, 0), List.of(semaphore.waiting(), limiter.waiting()));
            for (Object used : List.of(
                    mutex, lock, barrier, latch, group, condition, channel, breaker, batch, scheduler, gate, budget))
                assertTrue(used.toString().length() > 0);
        }
    }

    @Test
    void supplier_thatReturnsNull_isReportedAndLeftOut() throws Exception {
        BlockingQueue<Throwable> failures = new LinkedBlockingQueue<>();
        var executor = java.util.concurrent.Executors.newSingleThreadExecutor(task -> {
            Thread thread = new Thread(task);
            thread.setUncaughtExceptionHandler((t, e) -> failures.add(e));
            return thread;
        });
        try (AsyncMonitor monitor = AsyncMonitor.start(OFTEN, AT_ONCE, alerts::add, executor)) {
            monitor.watch("pool", NullUsage::get);
            Throwable failure = failures.poll(120, TimeUnit.SECONDS);
            assertEquals("the supplier of 'pool' returned null", failure == null ? null : failure.getMessage());
        } finally {
            executor.shutdown();
        }
    }

    /** A supplier that breaks the rule, so that the compiler of null marks does not see it. */
    private static final class NullUsage {
        @SuppressWarnings("NullAway")
        static Usage get() {
            return null;
        }
    }

    @Test
    void rules_outOfTheirBounds_areRefused() {
        var refused = assertThrows(
                IllegalArgumentException.class,
                () -> AsyncMonitor.rules(0.7, 0.8, Duration.ZERO, Duration.ofSeconds(1)));
        assertEquals("clearBelow = 0.8, must be at least 0.0 and at most 0.7, the utilisation", refused.getMessage());
        assertThrows(IllegalArgumentException.class, () -> AsyncMonitor.start(Duration.ZERO, AT_ONCE, alerts::add));
        assertThrows(IllegalArgumentException.class, () -> AsyncMonitor.usage(-1, 1));
        assertEquals(Duration.ofSeconds(5), AsyncMonitor.rules().after());
        assertEquals(Duration.ofSeconds(30), AsyncMonitor.rules().longestWait());
    }

    @Test
    void monitor_thatIsClosed_refusesToWatch() {
        AsyncMonitor monitor = AsyncMonitor.start(NEVER, AT_ONCE, alerts::add);
        monitor.close();
        assertThrows(IllegalStateException.class, () -> monitor.watch("mutex", AsyncMutex.create()));
    }
}
