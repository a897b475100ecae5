package baton.interop.blocking;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.Priority;
import baton.interop.AsyncTaskScheduler;
import baton.interop.BlockingTaskScheduler;
import baton.scheduler.OnFullQueue;
import baton.scheduler.SchedulerClosedException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
class BlockingTaskSchedulerTest {
    private final AsyncTaskScheduler async = AsyncTaskScheduler.create(1);
    private final BlockingTaskScheduler scheduler = async.blocking();
    private final CompletableFuture<String> gate = new CompletableFuture<>();

    private CompletableFuture<String> occupy() {
        return async.schedule(Priority.NORMAL, () -> gate);
    }

    private int queued() {
        return async.metrics().getQueued();
    }

    @Test
    void call_slotIsFree_runsOnTheCallingThread() throws Exception {
        assertSame(Thread.currentThread(), scheduler.call(Priority.HIGH, Thread::currentThread));
        assertEquals("again", scheduler.call(Priority.HIGH, Duration.ZERO, () -> "again"));
    }

    @Test
    void call_noSlot_waitsInTheOrderOfLevels() throws Exception {
        CompletableFuture<String> running = occupy();
        List<String> order = new ArrayList<>();
        BlockedCall<Boolean> low = BlockedCall.parked(() -> scheduler.call(Priority.LOW, () -> order.add("low")));
        BlockedCall<Boolean> high = BlockedCall.parked(() -> scheduler.call(Priority.HIGH, () -> order.add("high")));
        gate.complete("done");
        running.join();
        assertTrue(low.result() && high.result());
        assertEquals(List.of("high", "low"), order);
    }

    @Test
    void call_thatMayNotWait_displacesNoOtherTask() {
        AsyncTaskScheduler full = AsyncTaskScheduler.builder(1)
                .capacity(1, OnFullQueue.DROP_LOWEST)
                .build();
        CompletableFuture<String> running = full.schedule(Priority.NORMAL, () -> gate);
        CompletableFuture<Integer> low = full.schedule(Priority.LOW, () -> 1);
        for (Duration timeout : List.of(Duration.ZERO, Duration.ofSeconds(-1))) {
            TimeoutException e = assertThrows(
                    TimeoutException.class, () -> full.blocking().call(Priority.CRITICAL, timeout, () -> 2));
            assertTrue(e.getMessage().startsWith("no slot within "), e.getMessage());
        }
        gate.complete("done");
        assertEquals("done", running.join());
        assertEquals(1, low.join());
    }

    @Test
    void call_taskThrows_throwsThat_andFreesTheSlot() throws Exception {
        IOException failure = new IOException();
        assertSame(
                failure,
                assertThrows(
                        IOException.class,
                        () -> scheduler.call(Priority.LOW, () -> {
                            throw failure;
                        })));
        ExecutionException wrapper = new ExecutionException(failure);
        assertSame(
                wrapper,
                assertThrows(
                        ExecutionException.class,
                        () -> scheduler.call(Priority.LOW, () -> {
                            throw wrapper;
                        })));
        assertThrows(
                StackOverflowError.class,
                () -> scheduler.call(Priority.LOW, () -> {
                    throw new StackOverflowError();
                }));
        assertEquals(1, scheduler.call(Priority.LOW, () -> 1));
    }

    @Test
    void call_interruptedOrTooLate_leavesTheQueueAndNeverRuns() throws Exception {
        CompletableFuture<String> running = occupy();
        List<String> runs = new ArrayList<>();
        BlockedCall<?> waiter = BlockedCall.parked(() ->
                assertThrows(InterruptedException.class, () -> scheduler.call(Priority.LOW, () -> runs.add("never"))));
        assertEquals(1, queued());
        waiter.thread.interrupt();
        waiter.result();
        assertEquals(0, queued());
        TimeoutException late = assertThrows(
                TimeoutException.class, () -> scheduler.call(Priority.LOW, Duration.ofMillis(1), () -> "never"));
        assertTrue(late.getMessage().startsWith("no slot within 1ms: "), late.getMessage());
        assertThrows(TimeoutException.class, () -> scheduler.call(Priority.LOW, Duration.ofMillis(-1), () -> "never"));
        assertEquals(0, queued());
        Thread.currentThread().interrupt();
        assertThrows(InterruptedException.class, () -> scheduler.call(Priority.LOW, () -> "never"));
        gate.complete("done");
        running.join();
        assertEquals(1, scheduler.call(Priority.LOW, () -> 1));
        assertEquals(List.of(), runs);
    }

    @Test
    void closeNow_callWaits_fails() throws Exception {
        var running = occupy();
        BlockedCall<?> waiter = BlockedCall.parked(
                () -> assertThrows(SchedulerClosedException.class, () -> scheduler.call(Priority.LOW, () -> "never")));
        async.closeNow();
        waiter.result();
        gate.complete("done");
        running.join();
        assertThrows(SchedulerClosedException.class, () -> scheduler.call(Priority.LOW, () -> "never"));
    }
}
