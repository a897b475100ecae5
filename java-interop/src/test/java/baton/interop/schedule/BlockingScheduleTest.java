package baton.interop.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncSchedule;
import baton.interop.BlockingAction;
import baton.interop.Triggers;
import baton.scheduler.Due;
import baton.scheduler.TaskTimeoutException;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Schedules whose actions block: on threads of their own, which are interrupted. */
@Tag("jdk")
@Timeout(120)
class BlockingScheduleTest {
    private final BlockingQueue<Object> events = new LinkedBlockingQueue<>();
    private final Semaphore gate = new Semaphore(0);

    private AsyncSchedule<String> started(BlockingAction<Due<String>> action, @Nullable Duration timeout) {
        return AsyncSchedule.<String>blockingBuilder(action)
                .maxConcurrency(2)
                .runTimeout(key -> timeout)
                .onFailure((key, failure) -> events.add(failure))
                .start();
    }

    private void put(AsyncSchedule<String> schedule, String key) {
        schedule.put(key, Triggers.at(Instant.now()));
    }

    private Object event() throws InterruptedException {
        Object event = events.poll(120, TimeUnit.SECONDS);
        assertTrue(event != null, "nothing has happened for two minutes");
        return event;
    }

    /** Blocks until an interrupt. */
    private void block(Due<String> due) throws InterruptedException {
        events.add("begun " + due.getKey());
        try {
            gate.acquire();
        } catch (InterruptedException e) {
            events.add("interrupted");
            throw e;
        }
    }

    @Test
    void action_blocks_andRunsOnAVirtualThreadWhereThereAreSome() throws Exception {
        try (AsyncSchedule<String> schedule = started(due -> events.add(Thread.currentThread()), null)) {
            put(schedule, "a");
            Thread thread = (Thread) event();
            boolean isVirtual = Runtime.version().feature() >= 21;
            assertEquals(
                    isVirtual,
                    isVirtual && (boolean) Thread.class.getMethod("isVirtual").invoke(thread));
        }
    }

    @Test
    void failure_isReportedUnwrapped() throws Exception {
        IOException failure = new IOException("down");
        BlockingAction<Due<String>> fails = due -> {
            throw failure;
        };
        try (AsyncSchedule<String> schedule = started(fails, null)) {
            put(schedule, "a");
            assertEquals("down", ((IOException) event()).getMessage());
        }
    }

    @Test
    void cancelRun_interruptsTheAction_andTheRunEndsWithIt() throws Exception {
        CountDownLatch cleanUp = new CountDownLatch(1);
        BlockingAction<Due<String>> action = due -> {
            try {
                block(due);
            } catch (InterruptedException e) {
                cleanUp.await();
            }
        };
        try (AsyncSchedule<String> schedule = started(action, null)) {
            put(schedule, "a");
            assertEquals("begun a", event());
            assertEquals(1, schedule.cancelRun("a"));
            assertEquals("interrupted", event());
            assertEquals(1, schedule.metrics().getRunning());
            cleanUp.countDown();
            while (schedule.metrics().getRunning() > 0) Thread.onSpinWait();
            assertEquals(1, schedule.metrics().getCancelled());
            assertEquals(0, schedule.size());
        }
        assertNull(events.poll());
    }

    @Test
    void runTimeout_interruptsTheAction_whichHasFailed() throws Exception {
        try (AsyncSchedule<String> schedule = started(this::block, Duration.ofMillis(20))) {
            // The time may be over before the thread has begun.
            schedule.put("a", Triggers.fixedDelay(Duration.ofMillis(1)));
            while (!event().equals("interrupted")) Thread.onSpinWait();
            assertEquals("the run of 'a' took longer than 20ms", ((TaskTimeoutException) event()).getMessage());
        }
    }

    @Test
    void shutdown_interruptsTheActionAfterTheGrace() throws Exception {
        AsyncSchedule<String> schedule = AsyncSchedule.<String>blockingBuilder(this::block)
                .grace(Duration.ofMillis(1))
                .start();
        put(schedule, "a");
        assertEquals("begun a", event());
        schedule.close();
        assertEquals("interrupted", event());
        assertFalse(schedule.ended().isCompletedExceptionally());
    }
}
