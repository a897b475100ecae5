package baton.interop.blocking;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.bridge.Durations;
import baton.interop.AsyncBarrier;
import baton.interop.BlockingBarrier;
import baton.sync.BarrierBrokenException;
import baton.sync.BarrierCancellation;
import baton.sync.BarrierTimeoutException;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
class BlockingBarrierTest {
    private static final Duration FOREVER = Duration.ofSeconds(Long.MAX_VALUE);
    private static final List<Duration> SHORT =
            List.of(Duration.ofSeconds(Long.MIN_VALUE), Duration.ofNanos(-1), Duration.ZERO, Duration.ofMillis(1));

    @Test
    void arrive_notAllInTime_leavesNothing() throws Exception {
        AsyncBarrier async = AsyncBarrier.create(2);
        for (Duration time : SHORT) {
            BarrierTimeoutException e = assertThrows(
                    BarrierTimeoutException.class, () -> async.blocking().arrive(time));
            assertTrue(
                    e.getMessage().startsWith("not all arrived within " + Durations.textOf(time) + ": Barrier"),
                    e.getMessage());
            assertEquals(0, async.waiting());
        }
        BlockedCall<Integer> first = BlockedCall.parked(() -> async.blocking().arrive(FOREVER));
        assertEquals(0, async.blocking().arrive(Duration.ZERO));
        assertEquals(1, first.result());
    }

    @Test
    void arrive_barrierBreaks_isBrokenByATimeoutAndByAnInterrupt() throws Exception {
        for (boolean isInterrupted : new boolean[] {false, true}) {
            AsyncBarrier async = AsyncBarrier.create(2, BarrierCancellation.BREAK);
            BlockingBarrier barrier = async.blocking();
            if (isInterrupted) {
                BlockedCall<?> waiter =
                        BlockedCall.parked(() -> assertThrows(InterruptedException.class, barrier::arrive));
                waiter.thread.interrupt();
                waiter.result();
            } else {
                assertThrows(BarrierTimeoutException.class, () -> barrier.arrive(Duration.ofMillis(1)));
            }
            assertTrue(async.isBroken());
        }
    }

    @Test
    void arrive_interruptedBefore_breaksTheBarrierForTheOthers() throws Exception {
        AsyncBarrier async = AsyncBarrier.create(2, BarrierCancellation.BREAK);
        BlockedCall<?> waiter = BlockedCall.parked(() -> assertThrows(
                BarrierBrokenException.class, () -> async.blocking().arrive()));
        Thread.currentThread().interrupt();
        assertThrows(InterruptedException.class, () -> async.blocking().arrive());
        waiter.result();
    }

    @Test
    void arrive_lastPartyRunsTheAction_waitsForItsStage() throws Exception {
        CompletableFuture<String> stage = new CompletableFuture<>();
        BlockingBarrier barrier = AsyncBarrier.create(1, () -> stage).blocking();
        BlockedCall<Integer> last = BlockedCall.parked(barrier::arrive);
        stage.complete("done");
        assertEquals(0, last.result());
        BlockingBarrier failing = AsyncBarrier.create(1, () -> CompletableFuture.failedFuture(new IOException("late")))
                .blocking();
        CompletionException e = assertThrows(CompletionException.class, failing::arrive);
        assertEquals("late", e.getCause().getMessage());
    }

    @Test
    void arrive_interruptedDuringTheAction_cancelsIt() throws Exception {
        CompletableFuture<String> stage = new CompletableFuture<>();
        AsyncBarrier async = AsyncBarrier.create(1, () -> stage);
        BlockedCall<?> last = BlockedCall.parked(() ->
                assertThrows(InterruptedException.class, () -> async.blocking().arrive()));
        last.thread.interrupt();
        last.result();
        assertTrue(stage.isCancelled());
        assertTrue(async.isBroken());
    }
}
