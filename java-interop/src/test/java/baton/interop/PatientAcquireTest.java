package baton.interop;

import static baton.interop.Futures.await;
import static baton.interop.Futures.awaitFailure;
import static baton.interop.Futures.failure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.Priority;
import baton.sync.WaitOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A level together with a timeout. */
class PatientAcquireTest {
    private static final Duration DAY = Duration.ofDays(1);

    private final AsyncSemaphore urgent = AsyncSemaphore.create(3, WaitOrder.PRIORITY, "uplink");

    @ParameterizedTest
    @EnumSource(Priority.class)
    void acquire_atALevelWhileFree_isDoneAtOnce(Priority level) {
        Permit one = urgent.acquire(1, level, Duration.ZERO).join();
        Permit two = urgent.acquire(2, level, DAY).join();
        assertEquals(0, urgent.availablePermits());
        one.close();
        two.close();
        assertEquals(3, urgent.availablePermits());
    }

    @Test
    void acquire_atALevelWithTimeout_isOrderedByTheLevel() {
        Permit all = urgent.acquire(3).join();
        List<Priority> served = new ArrayList<>();
        for (Priority level : List.of(Priority.IDLE, Priority.LOW, Priority.NORMAL, Priority.HIGH, Priority.CRITICAL)) {
            urgent.acquire(3, level, DAY).thenAccept(permit -> {
                served.add(level);
                permit.close();
            });
        }
        all.close();
        assertEquals(List.of(Priority.values()), served);
        assertEquals(3, urgent.availablePermits());
    }

    @Test
    void acquire_atALevelWithTimeout_sharesTheQueueOfRequestsWithout() {
        Permit all = urgent.acquire(3).join();
        CompletableFuture<Permit> early = urgent.acquire(3, Priority.HIGH);
        CompletableFuture<Permit> late = urgent.acquire(3, Priority.HIGH, DAY);
        CompletableFuture<Permit> later = urgent.acquire(3, DAY);
        assertEquals(3, urgent.kotlin().getWaiting());
        all.close();
        assertTrue(early.isDone() && !late.isDone());
        early.join().close();
        assertTrue(late.isDone() && !later.isDone());
        late.join().close();
        later.join().close();
    }

    @ParameterizedTest
    @EnumSource(WaitOrder.class)
    void acquire_atALevelWhereTheOrderIsAnother_waitsAndIsServed(WaitOrder order) {
        AsyncSemaphore semaphore = AsyncSemaphore.create(1, order, null);
        Permit permit = semaphore.acquire().join();
        CompletableFuture<Permit> idle = semaphore.acquire(1, Priority.IDLE, DAY);
        CompletableFuture<Permit> critical = semaphore.acquire(1, Priority.CRITICAL, DAY);
        permit.close();
        assertEquals(order == WaitOrder.PRIORITY, critical.isDone());
        (order == WaitOrder.PRIORITY ? critical : idle).join().close();
        (order == WaitOrder.PRIORITY ? idle : critical).join().close();
        assertEquals(1, semaphore.availablePermits());
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 20_000_000})
    void acquire_atALevelAfterTheTimeout_failsAndHoldsNothing(long nanos) {
        Permit two = urgent.acquire(2).join();
        CompletableFuture<Permit> heavy = urgent.acquire(2, Priority.CRITICAL, Duration.ofNanos(nanos));
        CompletableFuture<Permit> behind = urgent.acquire(1, Priority.IDLE, DAY);
        var e = assertInstanceOf(TimeoutException.class, awaitFailure(heavy));
        assertTrue(e.getMessage().contains("2 permits") && e.getMessage().contains("'uplink'"), e.getMessage());
        await(behind).close();
        assertEquals(0, urgent.waiting());
        two.close();
        assertEquals(3, urgent.availablePermits());
    }

    @Test
    void acquire_atALevelWithTimeout_cancelledGrantsTheNext() {
        Permit two = urgent.acquire(2).join();
        CompletableFuture<Permit> heavy = urgent.acquire(2, Priority.CRITICAL, DAY);
        CompletableFuture<Permit> behind = urgent.acquire(1, Priority.IDLE, DAY);
        assertFalse(behind.isDone());
        assertTrue(heavy.cancel(false));
        assertTrue(heavy.isCancelled());
        behind.join().close();
        two.close();
        assertEquals(3, urgent.availablePermits());
    }

    @Test
    void resize_belowTheWeightOfOneWithLevelAndTimeout_failsIt() {
        Permit all = urgent.acquire(3).join();
        CompletableFuture<Permit> heavy = urgent.acquire(3, Priority.LOW, DAY);
        urgent.resize(2);
        assertInstanceOf(IllegalArgumentException.class, failure(heavy));
        all.close();
        assertEquals(2, urgent.availablePermits());
    }
}
