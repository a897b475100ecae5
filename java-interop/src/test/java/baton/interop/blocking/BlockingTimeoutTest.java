package baton.interop.blocking;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.bridge.Durations;
import baton.interop.AsyncChannel;
import baton.interop.AsyncLatch;
import baton.interop.AsyncSemaphore;
import baton.interop.AsyncWaitGroup;
import baton.interop.BlockingChannel;
import baton.interop.BlockingSemaphore;
import baton.interop.Permit;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

/** Waits that end when their time is over, which hold nothing then; and those that are served before. */
@Timeout(300)
class BlockingTimeoutTest {
    private static final Duration FOREVER = Duration.ofSeconds(Long.MAX_VALUE);
    private static final List<Duration> SHORT =
            List.of(Duration.ofSeconds(Long.MIN_VALUE), Duration.ofNanos(-1), Duration.ZERO, Duration.ofMillis(1));

    private static void assertTimeout(String message, Executable call) {
        TimeoutException e = assertThrows(TimeoutException.class, call);
        assertTrue(e.getMessage().startsWith(message), e.getMessage());
    }

    @Test
    void acquire_noPermitInTime_holdsNothing() throws Exception {
        AsyncSemaphore async = AsyncSemaphore.create(2);
        BlockingSemaphore semaphore = async.blocking();
        Permit held = semaphore.acquire(2, FOREVER);
        for (Duration time : SHORT) {
            assertTimeout(
                    "no permit within " + Durations.textOf(time) + " from Semaphore", () -> semaphore.acquire(time));
            assertTimeout(
                    "no 2 permits within " + Durations.textOf(time) + " from Semaphore",
                    () -> semaphore.acquire(2, time));
            assertThrows(TimeoutException.class, () -> semaphore.call(time, () -> "never"));
            assertFalse(semaphore.awaitIdle(time));
        }
        for (Duration time : SHORT) {
            assertEquals(Optional.empty(), semaphore.tryAcquire(time));
            assertEquals(Optional.empty(), semaphore.tryAcquire(2, time));
        }
        assertEquals(Optional.empty(), semaphore.drain());
        assertEquals(0, async.waiting());
        BlockedCall<Permit> waiter = BlockedCall.parked(() -> semaphore.acquire(2, FOREVER));
        held.close();
        waiter.result().close();
        for (Duration time : List.of(Duration.ZERO, FOREVER)) {
            semaphore.tryAcquire(time).orElseThrow().close();
            semaphore.tryAcquire(2, time).orElseThrow().close();
        }
        assertThrows(IllegalArgumentException.class, () -> semaphore.tryAcquire(3, FOREVER));
        Permit all = semaphore.drain().orElseThrow();
        assertEquals(0, async.availablePermits());
        assertEquals(Optional.empty(), semaphore.drain());
        BlockedCall<Optional<Permit>> tries = BlockedCall.parked(() -> semaphore.tryAcquire(2, FOREVER));
        all.close();
        all.close();
        tries.result().orElseThrow().close();
        assertEquals(2, async.availablePermits());
        for (Duration time : SHORT) {
            assertTrue(semaphore.awaitIdle(time));
            assertEquals("value", semaphore.call(time, () -> "value"));
        }
    }

    @Test
    void sendAndReceive_notInTime_leaveNothing() throws Exception {
        AsyncChannel<String> async = AsyncChannel.create(1);
        BlockingChannel<String> channel = async.blocking();
        for (Duration time : SHORT) {
            assertTimeout(
                    "nothing received within " + Durations.textOf(time) + ": Channel", () -> channel.receive(time));
        }
        channel.send("first", FOREVER);
        for (Duration time : SHORT) {
            assertTimeout("not sent within " + Durations.textOf(time) + ": Channel", () -> channel.send("never", time));
            assertTimeout("no place within " + Durations.textOf(time) + ": Channel", () -> channel.reserve(time));
        }
        assertEquals(0, async.waiting());
        assertEquals("first", channel.receive(FOREVER));
        BlockedCall<String> receiver = BlockedCall.parked(() -> channel.receive(FOREVER));
        channel.reserve(FOREVER).send("second");
        assertEquals("second", receiver.result());
    }

    @Test
    void await_notZeroInTime_answersFalse() throws Exception {
        AsyncLatch latch = AsyncLatch.create(1);
        AsyncWaitGroup group = AsyncWaitGroup.create();
        group.add();
        for (Duration time : SHORT) {
            assertFalse(latch.blocking().await(time));
            assertFalse(group.blocking().await(time));
        }
        assertEquals(0, latch.waiting() + group.waiting());
        latch.countDown();
        group.done();
        for (Duration time : SHORT) {
            assertTrue(latch.blocking().await(time));
            assertTrue(group.blocking().await(time));
        }
    }

    /** The thread that counts down wakes the waiters one after the other; a callback may take long. */
    @Test
    void await_grantedBehindASlowCallback_endsInTimeOrByAnInterrupt() throws Exception {
        for (boolean isInterrupted : new boolean[] {false, true}) {
            AsyncLatch latch = AsyncLatch.create(1);
            CountDownLatch slow = new CountDownLatch(1);
            CountDownLatch isGranted = new CountDownLatch(1);
            var callback = latch.await().thenRun(() -> {
                isGranted.countDown();
                awaitForever(slow);
            });
            Duration time = isInterrupted ? FOREVER : Duration.ofSeconds(1);
            BlockedCall<Boolean> waiter =
                    BlockedCall.parked(() -> latch.blocking().await(time) && Thread.interrupted() == isInterrupted);
            BlockedCall<?> releaser = BlockedCall.started(() -> {
                latch.countDown();
                return true;
            });
            isGranted.await();
            if (isInterrupted) waiter.thread.interrupt();
            assertTrue(waiter.result());
            slow.countDown();
            releaser.result();
            callback.join();
        }
    }

    private static void awaitForever(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
