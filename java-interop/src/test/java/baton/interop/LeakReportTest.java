package baton.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.channels.ChannelOrder;
import baton.channels.OnFull;
import baton.sync.ReadWritePolicy;
import baton.sync.WaitOrder;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class LeakReportTest {
    private final List<LeakReport.Leak> leaks = new CopyOnWriteArrayList<>();
    private final AsyncSemaphore semaphore = AsyncSemaphore.create(10, WaitOrder.FIFO, "uplink");

    @BeforeEach
    void enable() {
        LeakReport.enable(leaks::add);
    }

    @AfterEach
    void disable() {
        LeakReport.disable();
    }

    /** Collects garbage until it is true, a bounded number of times. */
    private static boolean collectUntil(BooleanSupplier condition) {
        for (int i = 0; i < 200; i++) {
            System.gc();
            LeakReport.check();
            if (condition.getAsBoolean()) return true;
            Thread.onSpinWait();
        }
        return false;
    }

    /** Collects garbage until a permit lost now would have been found. */
    private void collectAll() {
        WeakReference<Object> marker = new WeakReference<>(new Object());
        assertTrue(collectUntil(() -> marker.refersTo(null)));
        for (int i = 0; i < 3; i++) {
            System.gc();
            LeakReport.check();
        }
    }

    private void lose(int permits) {
        assertTrue(semaphore.acquire(permits).join().isHeld());
    }

    @Test
    void permit_lost_isReportedWithItsNameAndWhereItWasHandedOut() {
        lose(2);
        assertTrue(collectUntil(() -> !leaks.isEmpty()));
        assertEquals(1, leaks.size());
        LeakReport.Leak leak = leaks.get(0);
        assertTrue(leak.permit().startsWith("2 permits of Semaphore 'uplink'"), leak.permit());
        assertTrue(
                comesFrom(leak, "lose"), () -> Arrays.toString(leak.handedOut().getStackTrace()));
        assertEquals(8, semaphore.availablePermits(), "reporting releases nothing");
    }

    private static boolean comesFrom(LeakReport.Leak leak, String method) {
        return Arrays.stream(leak.handedOut().getStackTrace())
                .anyMatch(frame -> frame.getMethodName().equals(method)
                        && frame.getClassName().equals(LeakReportTest.class.getName()));
    }

    @Test
    void permit_ofEveryKind_isReportedWhenLost() {
        AsyncMutex mutex = AsyncMutex.create("account");
        loseOneOfEach(mutex);
        assertTrue(collectUntil(() -> leaks.size() == 7), leaks::toString);
        assertTrue(leaks.stream().anyMatch(leak -> leak.permit().startsWith("lock of Mutex 'account'")));
        assertTrue(leaks.stream().anyMatch(leak -> leak.permit().startsWith("place in Channel 'orders'")));
    }

    private void loseOneOfEach(AsyncMutex mutex) {
        assertTrue(semaphore.acquire().isDone());
        assertTrue(semaphore.tryAcquire().isPresent());
        assertTrue(semaphore.acquire(java.time.Duration.ofDays(1)).isDone());
        assertTrue(mutex.ownedBy("me").tryLock().isPresent());
        AsyncChannel<String> channel = AsyncChannel.create(1, ChannelOrder.FIFO, OnFull.SUSPEND, "orders");
        assertTrue(channel.trySend("x"));
        CompletableFuture<Reservation<String>> place = channel.reserve();
        assertEquals("x", channel.receive().join());
        assertTrue(place.isDone());
        channel.resize(2);
        assertTrue(channel.reserve().isDone());
        assertTrue(Select.<Permit>first()
                .onAcquire(semaphore, permit -> permit)
                .start()
                .isDone());
    }

    @Test
    void permitOfAReadWriteLock_inWhateverItHolds_isReportedWhenLostAndNotBefore() {
        AsyncReadWriteLock rw = AsyncReadWriteLock.create(ReadWritePolicy.PHASE_FAIR, "cache");
        Permit reader = rw.lockRead().join();
        loseWhileItIsUpgraded(rw);
        collectAll();
        assertEquals(List.of(), leaks, "the waiting upgrade still needs the permit");
        reader.close();
        assertTrue(rw.isWriteLocked());
        assertTrue(collectUntil(() -> !leaks.isEmpty()));
        assertEquals(1, leaks.size());
        LeakReport.Leak leak = leaks.get(0);
        assertTrue(leak.permit().startsWith("upgradable read lock of ReadWriteLock 'cache'"), leak.permit());
        assertTrue(comesFrom(leak, "loseWhileItIsUpgraded"));
        rw.kotlin().unlockWrite(null);
        changeAndClose(rw);
        collectAll();
        assertEquals(1, leaks.size());
    }

    private static void loseWhileItIsUpgraded(AsyncReadWriteLock rw) {
        assertFalse(rw.lockUpgradable().join().upgrade().isDone());
    }

    private static void changeAndClose(AsyncReadWriteLock rw) {
        for (int i = 0; i < 100; i++) {
            UpgradablePermit permit = rw.lockUpgradable().join();
            permit.upgrade().join().downgrade();
            permit.close();
        }
    }

    @Test
    void future_thatIsNeverRead_isReportedWhenItWasGranted() {
        Permit all = semaphore.acquire(10).join();
        forget();
        assertEquals(1, semaphore.waiting());
        collectAll();
        assertEquals(List.of(), leaks, "a waiting future has lost nothing");
        closeHere(all);
        assertTrue(collectUntil(() -> !leaks.isEmpty()));
        assertTrue(
                leaks.get(0).permit().startsWith("3 permits of"), leaks.get(0).permit());
        assertTrue(comesFrom(leaks.get(0), "closeHere"));
        assertEquals(7, semaphore.availablePermits());
    }

    private void forget() {
        assertEquals(0, semaphore.acquire(3).getNumberOfDependents());
    }

    private static void closeHere(Permit permit) {
        permit.close();
    }

    @Test
    void permit_closed_isNotReported() {
        for (int i = 0; i < 100; i++) semaphore.acquire().join().close();
        Permit all = semaphore.acquire(10).join();
        CompletableFuture<Void> waits = semaphore.acquire().thenAccept(Permit::close);
        CompletableFuture<Integer> guarded = semaphore.withPermit(() -> CompletableFuture.completedFuture(1));
        all.close();
        assertTrue(waits.isDone() && guarded.isDone());
        collectAll();
        assertEquals(List.of(), leaks);
    }

    @Test
    void permit_reachable_isNotReported() {
        Permit permit = semaphore.acquire().join();
        CompletableFuture<Permit> unread = semaphore.acquire();
        collectAll();
        assertEquals(List.of(), leaks);
        permit.close();
        unread.join().close();
    }

    @Test
    void handOut_looksForLostPermitsByItself() {
        lose(1);
        WeakReference<Object> marker = new WeakReference<>(new Object());
        assertTrue(collectWithoutCheck(marker));
        for (int i = 0; i < 200 && leaks.isEmpty(); i++) {
            System.gc();
            semaphore.acquire().join().close();
        }
        assertEquals(1, leaks.size());
    }

    private static boolean collectWithoutCheck(WeakReference<Object> marker) {
        for (int i = 0; i < 200 && !marker.refersTo(null); i++) System.gc();
        return marker.refersTo(null);
    }

    @Test
    void disabled_reportsNothingAndForgetsWhatWasWatched() {
        lose(1);
        LeakReport.disable();
        collectAll();
        lose(2);
        collectAll();
        assertEquals(List.of(), leaks);
        LeakReport.enable(leaks::add);
        lose(3);
        assertTrue(collectUntil(() -> !leaks.isEmpty()));
        assertEquals(1, leaks.size());
        assertTrue(leaks.get(0).permit().startsWith("3 permits of"));
    }

    @Test
    void permit_handedOutBeforeEnabling_isNotReported() {
        LeakReport.disable();
        Permit before = semaphore.acquire().join();
        LeakReport.enable(leaks::add);
        before.close();
        lose(1);
        assertTrue(collectUntil(() -> !leaks.isEmpty()));
        assertEquals(1, leaks.size());
    }

    @Test
    void watched_permitsAreNotRetainedNorTheirSemaphores() {
        assertTrue(collectUntil(lostSemaphore()::isGone));
    }

    private record Gone(WeakReference<AsyncSemaphore> face, WeakReference<Object> kotlin) {
        boolean isGone() {
            return face.refersTo(null) && kotlin.refersTo(null);
        }
    }

    private static Gone lostSemaphore() {
        AsyncSemaphore lost = AsyncSemaphore.create(1);
        assertTrue(lost.acquire().isDone());
        return new Gone(new WeakReference<>(lost), new WeakReference<>(lost.kotlin()));
    }

    @Test
    void listener_thatThrows_costsNoPermit() {
        List<Throwable> reported = new ArrayList<>();
        Futures.reportingTo(reported::add, () -> {
            LeakReport.enable(leak -> {
                throw new IllegalStateException("listener");
            });
            lose(1);
            for (int i = 0; i < 200 && reported.isEmpty(); i++) {
                System.gc();
                semaphore.acquire().join().close();
            }
            assertEquals(1, reported.size());
            assertEquals(9, semaphore.availablePermits());
        });
    }

    @Test
    void enable_withoutListener_isRefused() {
        assertEquals(
                "listener",
                assertThrows(NullPointerException.class, () -> LeakReport.enable(null))
                        .getMessage());
    }
}
