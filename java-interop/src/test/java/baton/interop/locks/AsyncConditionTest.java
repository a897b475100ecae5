package baton.interop.locks;

import static baton.interop.Futures.await;
import static baton.interop.Futures.awaitFailure;
import static baton.interop.Futures.failure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncCondition;
import baton.interop.AsyncMutex;
import baton.interop.AsyncSemaphore;
import baton.interop.BlockingMutex;
import baton.interop.NoTimerThread;
import baton.interop.Permit;
import baton.interop.blocking.BlockedCall;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class AsyncConditionTest {
    private final AsyncMutex mutex = AsyncMutex.create("account");
    private final AsyncCondition condition = mutex.newCondition("enough");

    private CompletableFuture<Permit> waiter() {
        return condition.await(mutex.lock().join());
    }

    private void assertState(boolean isLocked, int queued, int waiting) {
        String state = mutex.isLocked() + ", " + mutex.waiting() + ", " + condition.waiting();
        assertEquals(isLocked + ", " + queued + ", " + waiting, state);
    }

    @Test
    void await_byAThreadAndAFuture_waitInOneQueue() throws Exception {
        CompletableFuture<Permit> first = waiter();
        BlockedCall<Boolean> second = BlockedCall.parked(() -> mutex.blocking().call(() -> {
            condition.blocking().await();
            return mutex.blocking().isHeldByCurrentThread();
        }));
        CompletableFuture<Permit> third = waiter();
        assertState(false, 0, 3);
        BlockingMutex lock = mutex.blocking();
        lock.lock();
        condition.blocking().signalAll();
        assertState(true, 3, 0);
        lock.unlock();
        assertFalse(second.isDone() || third.isDone());
        first.join().close();
        assertTrue(second.result());
        third.join().close();
        assertState(false, 0, 0);
    }

    @Test
    void await_closesThePermitAndReturnsAnother() {
        Permit spent = mutex.ownedBy("me").lock().join();
        CompletableFuture<Permit> waits = condition.await(spent);
        assertFalse(spent.isHeld());
        assertState(false, 0, 1);
        spent.close();
        Permit held = mutex.ownedBy("you").lock().join();
        spent.close();
        condition.signal();
        assertFalse(waits.isDone());
        assertState(true, 1, 0);
        held.close();
        assertEquals(Optional.of("me"), mutex.holder());
        assertNotSame(spent, waits.join());
        assertTrue(waits.join().isHeld());
        assertFalse(spent.isHeld());
        waits.join().close();
        assertState(false, 0, 0);
    }

    @Test
    void await_withAClosedPermit_failsAndChangesNothing() {
        Permit closed = mutex.lock().join();
        closed.close();
        for (boolean isLocked : new boolean[] {false, true}) {
            assertInstanceOf(IllegalStateException.class, failure(condition.await(closed)));
            assertInstanceOf(IllegalStateException.class, failure(condition.await(closed, Runnable::run)));
            assertInstanceOf(IllegalStateException.class, failure(condition.await(closed, Duration.ZERO)));
            assertInstanceOf(IllegalStateException.class, failure(condition.await(closed, Duration.ofMillis(1))));
            assertState(isLocked, 0, 0);
            assertEquals(!isLocked, mutex.tryLock().isPresent());
        }
    }

    @Test
    void await_withThePermitOfAnother_isRefusedAndLeavesIt() {
        Permit held = mutex.lock().join();
        List<Permit> others = List.of(
                AsyncMutex.create("account").lock().join(),
                AsyncSemaphore.create(1).acquire().join());
        for (Permit other : others) {
            Duration timeout = Duration.ofMillis(1);
            var e = assertThrows(IllegalArgumentException.class, () -> condition.await(other));
            assertTrue(e.getMessage().contains(other.toString()), e.getMessage());
            assertThrows(IllegalArgumentException.class, () -> condition.await(other, Runnable::run));
            assertThrows(IllegalArgumentException.class, () -> condition.await(other, timeout));
            assertTrue(other.isHeld());
        }
        assertTrue(held.isHeld());
        assertState(true, 0, 0);
    }

    /** Two Java APIs of one mutex share its state. */
    @Test
    void await_withThePermitOfAnotherJavaObject_isAccepted() {
        Permit held = AsyncMutex.of(mutex.kotlin()).lock().join();
        CompletableFuture<Permit> waits = condition.await(held);
        assertState(false, 0, 1);
        waits.cancel(true);
    }

    @Test
    void await_whenOtherCodeHasUnlockedTheMutex_fails() {
        for (Optional<String> next : List.of(Optional.<String>empty(), Optional.of("you"))) {
            Permit robbed = mutex.ownedBy("me").lock().join();
            mutex.kotlin().unlock("me");
            next.ifPresent(owner -> assertTrue(mutex.kotlin().tryLock(owner)));
            assertInstanceOf(IllegalStateException.class, failure(condition.await(robbed)));
            assertState(next.isPresent(), 0, 0);
            assertEquals(Optional.<Object>ofNullable(next.orElse(null)), mutex.holder());
            robbed.close();
        }
    }

    static Stream<Consumer<CompletableFuture<Permit>>> enders() {
        return Stream.of(
                future -> assertTrue(future.cancel(true)),
                future -> assertTrue(future.complete(null)),
                future -> assertTrue(future.completeExceptionally(new IllegalStateException("outside"))),
                future -> future.obtrudeException(new IllegalStateException("outside")),
                future -> awaitFailure(future.orTimeout(1, TimeUnit.NANOSECONDS)));
    }

    @ParameterizedTest
    @MethodSource("enders")
    void future_endedAfterItsSignal_passesItOnBeforeItsEndIsSeen(Consumer<CompletableFuture<Permit>> end) {
        CompletableFuture<Permit> ended = waiter();
        CompletableFuture<Permit> next = waiter();
        CompletableFuture<Permit> last = waiter();
        Permit held = mutex.lock().join();
        condition.signal();
        assertState(true, 1, 2);
        var seen = ended.handle((permit, e) -> mutex.waiting() + ", " + condition.waiting());
        end.accept(ended);
        assertEquals("1, 1", await(seen));
        held.close();
        await(next).close();
        assertFalse(last.isDone());
        assertState(false, 0, 1);
    }

    @Test
    void future_endedAfterItsSignal_wakesNoLaterWaiter() {
        CompletableFuture<Permit> ended = waiter();
        Permit held = mutex.lock().join();
        CompletableFuture<Permit> before = mutex.lock();
        condition.signal();
        CompletableFuture<Permit> late = condition.await(held);
        assertState(true, 1, 1);
        assertTrue(ended.cancel(true));
        assertState(true, 0, 1);
        before.join().close();
        assertFalse(late.isDone());
        assertState(false, 0, 1);
    }

    @Test
    void timeout_signalledButNotGivenTheMutexInTime_passesTheSignalOn() {
        CompletableFuture<Permit> late = condition.await(mutex.lock().join(), Duration.ofMillis(200));
        CompletableFuture<Permit> next = waiter();
        Permit held = mutex.lock().join();
        condition.signal();
        assertInstanceOf(TimeoutException.class, awaitFailure(late));
        held.close();
        await(next).close();
        assertState(false, 0, 0);
    }

    @Test
    void timeout_noThreadForTheTimer_throwsAndUnlocksTheMutex() {
        AsyncMutex mutex = AsyncMutex.create();
        AsyncCondition condition = mutex.newCondition();
        Permit held = mutex.lock().join();
        NoTimerThread.during(
                () -> assertThrows(OutOfMemoryError.class, () -> condition.await(held, Duration.ofDays(1))));
        assertFalse(held.isHeld() || mutex.isLocked());
        assertEquals(0, condition.waiting());
    }

    @Test
    void timeout_zero_failsAtOnceWithoutTheMutex() {
        Permit spent = mutex.ownedBy("me").lock().join();
        CompletableFuture<Permit> next = mutex.ownedBy("you").lock();
        assertInstanceOf(TimeoutException.class, failure(condition.await(spent, Duration.ZERO)));
        assertFalse(spent.isHeld());
        await(next).close();
        assertState(false, 0, 0);
    }

    /** The example of the class comment. */
    @Test
    void buffer_asInTheDocumentation_handsOverInOrder() {
        List<Integer> items = new ArrayList<>();
        List<Integer> taken = new ArrayList<>();
        for (int i = 0; i < 3; i++)
            mutex.lock().thenCompose(held -> take(items, held)).thenAccept(taken::add);
        for (int i = 0; i < 3; i++) {
            try (Permit held = mutex.lock().join()) {
                assertTrue(held.isHeld());
                items.add(i);
                condition.signal();
            }
        }
        assertEquals(List.of(0, 1, 2), taken);
        assertState(false, 0, 0);
    }

    private CompletableFuture<Integer> take(List<Integer> items, Permit held) {
        if (items.isEmpty()) return condition.await(held).thenCompose(next -> take(items, next));
        try (held) {
            return CompletableFuture.completedFuture(items.remove(0));
        }
    }

    @Test
    void dependents_ofMany_runFlat() {
        int count = 100_000;
        List<CompletableFuture<Void>> done = new ArrayList<>();
        for (int i = 0; i < count; i++) done.add(waiter().thenAccept(Permit::close));
        Permit held = mutex.lock().join();
        condition.signalAll();
        held.close();
        await(CompletableFuture.allOf(done.toArray(new CompletableFuture<?>[0])));
        await(mutex.lock()).close();
        assertState(false, 0, 0);
    }
}
