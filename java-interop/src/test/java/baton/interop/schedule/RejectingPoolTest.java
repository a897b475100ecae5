package baton.interop.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncMonitor;
import baton.interop.AsyncSchedule;
import baton.interop.AsyncScheduleBuilder;
import baton.interop.AsyncScheduleEdits;
import baton.interop.ScheduleStores;
import baton.interop.Triggers;
import baton.scheduler.KeyCodec;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Schedules, monitors and stores on a pool that rejects, because bursts of other users' tasks fill its queue. */
@Timeout(120)
class RejectingPoolTest {
    private record Failure(Object key, Throwable failure) {}

    /** A permit for each command that the pool has rejected since the last burst began. */
    private final Semaphore rejections = new Semaphore(0);

    private final ThreadPoolExecutor pool =
            new ThreadPoolExecutor(2, 2, 1, TimeUnit.MINUTES, new ArrayBlockingQueue<>(4), (command, executor) -> {
                rejections.release();
                throw new RejectedExecutionException("full");
            });
    private final BlockingQueue<Failure> failures = new LinkedBlockingQueue<>();
    private final BlockingQueue<String> runs = new LinkedBlockingQueue<>();

    /** Blocks both threads of the pool and fills its queue. Counting down the result ends that. */
    private CountDownLatch burst() throws InterruptedException {
        CountDownLatch blocked = new CountDownLatch(2);
        CountDownLatch end = new CountDownLatch(1);
        Runnable task = () -> {
            blocked.countDown();
            try {
                end.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        };
        executeOnceAccepted(task);
        executeOnceAccepted(task);
        blocked.await();
        while (true) {
            try {
                pool.execute(task);
            } catch (RejectedExecutionException e) {
                rejections.drainPermits();
                return end;
            }
        }
    }

    /** The tasks of the burst before may still be in the queue: they have been let go, and end by themselves. */
    private void executeOnceAccepted(Runnable task) {
        while (true) {
            try {
                pool.execute(task);
                return;
            } catch (RejectedExecutionException e) {
                Thread.yield();
            }
        }
    }

    /** Whether the pool rejects what is tested. It does not if that was queued before the burst. */
    private boolean isHit() throws InterruptedException {
        return rejections.tryAcquire(200, TimeUnit.MILLISECONDS);
    }

    private AsyncScheduleBuilder<String> builder() {
        return AsyncSchedule.<String>builder(due -> {
                    runs.add(due.getKey());
                    return CompletableFuture.completedFuture(null);
                })
                .executor(pool)
                .maxConcurrency(4)
                .onFailure((key, failure) -> failures.add(new Failure(key, failure)))
                .name("shared");
    }

    private void assertRuns() throws InterruptedException {
        runs.clear();
        for (int i = 0; i < 3; i++) assertNotNull(runs.poll(120, TimeUnit.SECONDS), "no run");
    }

    private static Throwable endOf(AsyncSchedule<?> schedule) throws Exception {
        return schedule.ended().<Throwable>handle((value, e) -> e).get(120, TimeUnit.SECONDS);
    }

    @AfterEach
    void shutDown() {
        pool.shutdownNow();
    }

    @Test
    void schedule_afterBurstsOfOthers_runsAndWasHeard() throws Exception {
        List<Failure> heard = new ArrayList<>();
        try (AsyncSchedule<String> schedule = builder().start()) {
            // The period is longer than a burst takes to begin, so that the schedule sleeps then and is not queued.
            schedule.put("tick", Triggers.every(Duration.ofMillis(20)));
            // Not every rejection hits a step of the schedule itself.
            while (heard.stream()
                    .noneMatch(it ->
                            it.key() == schedule.kotlin() && it.failure() instanceof RejectedExecutionException)) {
                assertRuns();
                CountDownLatch end = burst();
                boolean unused = isHit();
                end.countDown();
                failures.drainTo(heard);
            }
            assertRuns();
            assertFalse(schedule.ended().isDone());
        }
    }

    /** A run that the pool rejected was lost. */
    @Test
    void schedule_ofMoreRunsThanThePoolTakes_runsAll() throws Exception {
        try (AsyncSchedule<String> schedule = builder().maxConcurrency(50).start()) {
            Instant due = Instant.now().plusMillis(100);
            for (int i = 0; i < 50; i++) schedule.put("once" + i, Triggers.at(due));
            Set<String> keys = new HashSet<>();
            while (keys.size() < 50) assertTrue(keys.add(runs.poll(120, TimeUnit.SECONDS)));
            assertTrue(failures.stream().allMatch(it -> it.key() == schedule.kotlin()), failures::toString);
        }
    }

    @Test
    void schedule_whosePoolIsShutDown_endsAndSaysWhy() throws Exception {
        AsyncSchedule<String> schedule = builder().start();
        schedule.put("tick", Triggers.every(Duration.ofMillis(2)));
        assertRuns();
        pool.shutdown();
        CancellationException end = assertInstanceOf(CancellationException.class, endOf(schedule));
        assertTrue(String.valueOf(end.getMessage()).contains("was shut down"), end::toString);
        assertTrue(failures.stream().anyMatch(it -> it.key() == schedule.kotlin()), failures::toString);
    }

    @Test
    void schedule_whoseStoreThrowsACancellation_failsWithAnotherException() throws Exception {
        CancellationException closed = new CancellationException("the pool was closed");
        DataSource source = (DataSource) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {DataSource.class}, (proxy, method, arguments) -> {
                    throw closed;
                });
        AsyncSchedule<String> schedule =
                builder().store(ScheduleStores.jdbc(source, "cancels")).start();
        Throwable failure = endOf(schedule);
        assertInstanceOf(IllegalStateException.class, failure);
        assertFalse(failure instanceof CancellationException);
    }

    @Test
    void monitor_duringAndAfterBurstsOfOthers_raisesAlerts() throws Exception {
        BlockingQueue<Boolean> alerts = new LinkedBlockingQueue<>();
        AtomicBoolean isFull = new AtomicBoolean();
        try (AsyncMonitor monitor = AsyncMonitor.start(
                Duration.ofMillis(1),
                AsyncMonitor.rules(0.70, 0.60, Duration.ZERO, Duration.ofDays(1)),
                alert -> alerts.add(alert.getRaised()),
                pool)) {
            monitor.watch("pool", () -> AsyncMonitor.usage(isFull.get() ? 10 : 0, 10));
            for (int rejected = 0; rejected < 6; ) {
                CountDownLatch end = burst();
                if (isHit()) rejected++;
                isFull.set(!isFull.get());
                end.countDown();
                assertEquals(isFull.get(), alerts.poll(120, TimeUnit.SECONDS));
            }
        }
    }

    @Test
    void store_onAPoolThatRejectsAndIsShutDown_worksAndIsClosed() throws Exception {
        JdbcDataSource source = new JdbcDataSource();
        source.setURL("jdbc:h2:mem:rejecting;DB_CLOSE_DELAY=-1");
        AsyncScheduleEdits<String> edits = AsyncScheduleEdits.of(source, "checks");
        edits.createTables().get(120, TimeUnit.SECONDS);
        edits.close().get(120, TimeUnit.SECONDS);
        for (int i = 0; i < 2; i++) {
            AsyncSchedule<String> schedule = AsyncSchedule.<String>builder(
                            due -> CompletableFuture.completedFuture(null))
                    .store(ScheduleStores.jdbc(
                            source, "checks", KeyCodec.Companion.getSTRING(), Duration.ofMillis(1), pool))
                    .start();
            schedule.put("a" + i, Triggers.every(Duration.ofHours(1)));
            schedule.flush().get(120, TimeUnit.SECONDS);
            boolean isRejected = false;
            while (!isRejected) {
                CountDownLatch end = burst();
                schedule.put("b" + i, Triggers.every(Duration.ofHours(1)));
                CompletableFuture<Void> flushed = schedule.flush();
                isRejected = isHit();
                end.countDown();
                flushed.get(120, TimeUnit.SECONDS);
            }
            if (i == 1) pool.shutdown();
            // The second one finds the table free.
            schedule.shutdown().get(120, TimeUnit.SECONDS);
            assertEquals(2 * i + 2, schedule.size());
        }
    }
}
