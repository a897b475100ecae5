package baton.interop.locks;

import static baton.interop.Futures.awaitFailure;
import static baton.interop.Futures.failure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncMutex;
import baton.interop.AsyncReadWriteLock;
import baton.interop.Futures;
import baton.interop.Permit;
import baton.interop.WritePermit;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** An owner that would wait for itself is refused in the future; owners of odd types. */
class OwnersTest {
    private static final Duration DAY = Duration.ofDays(1);
    private final AsyncMutex mutex = AsyncMutex.create("account");
    private final AsyncReadWriteLock rw = AsyncReadWriteLock.create();

    /** Its {@code toString}, which messages call, throws. */
    private static final class Mute {
        @Override
        public String toString() {
            throw new UnsupportedOperationException("no name");
        }
    }

    private static void refused(List<Supplier<CompletableFuture<? extends Permit>>> requests, Executable... tries) {
        for (var request : requests) assertInstanceOf(IllegalStateException.class, failure(request.get()));
        for (Executable call : tries) assertThrows(IllegalStateException.class, call);
    }

    @Test
    void mutex_heldByTheSameOwner_refusesEveryFormAndStaysAsItIs() {
        Permit permit = mutex.ownedBy("me").lock().join();
        refused(
                List.of(
                        () -> mutex.ownedBy("me").lock(),
                        () -> mutex.ownedBy("me").lock(Futures.REJECTING),
                        () -> mutex.ownedBy("me").lock(Duration.ZERO),
                        () -> mutex.ownedBy("me").lock(DAY)),
                () -> mutex.ownedBy("me").tryLock());
        assertEquals("AsyncMutex 'account' (locked by me, waiting = 0)", mutex.toString());
        permit.close();
        assertEquals("AsyncMutex 'account' (free)", mutex.toString());
    }

    @Test
    void readWriteLock_writtenByTheSameOwner_refusesEveryFormAndStaysAsItIs() {
        Permit permit = rw.ownedBy("me").lockWrite().join();
        refused(
                List.of(
                        () -> rw.ownedBy("me").lockRead(),
                        () -> rw.ownedBy("me").lockRead(Duration.ZERO),
                        () -> rw.ownedBy("me").lockRead(Futures.REJECTING),
                        () -> rw.ownedBy("me").lockWrite(),
                        () -> rw.ownedBy("me").lockWrite(Duration.ZERO),
                        () -> rw.ownedBy("me").lockWrite(Futures.REJECTING),
                        () -> rw.ownedBy("me").lockUpgradable(),
                        () -> rw.ownedBy("me").lockUpgradable(Duration.ZERO),
                        () -> rw.ownedBy("me").lockUpgradable(Futures.REJECTING)),
                () -> rw.ownedBy("me").tryLockRead(),
                () -> rw.ownedBy("me").tryLockWrite(),
                () -> rw.ownedBy("me").tryLockUpgradable());
        assertEquals("AsyncReadWriteLock (written by me, waiting = 0)", rw.toString());
        permit.close();
        assertEquals("AsyncReadWriteLock (free, waiting = 0)", rw.toString());
    }

    @Test
    void reader_thatWouldWaitForItself_isRefused() {
        Permit read = rw.ownedBy("me").lockRead().join();
        refused(
                List.of(
                        () -> rw.ownedBy("me").lockWrite(),
                        () -> rw.ownedBy("me").lockWrite(DAY)),
                () -> rw.ownedBy("me").tryLockWrite());
        CompletableFuture<WritePermit> writer = rw.ownedBy("writer").lockWrite();
        Throwable e = failure(rw.ownedBy("me").lockRead());
        assertTrue(e.getMessage().contains("me") && e.getMessage().contains("writer"), e.getMessage());
        refused(List.of(
                () -> rw.ownedBy("me").lockRead(DAY),
                () -> rw.ownedBy("me").lockRead(Futures.REJECTING),
                () -> rw.ownedBy("me").lockUpgradable()));
        assertTrue(rw.ownedBy("me").tryLockRead().isEmpty());
        read.close();
        writer.join().close();
        assertEquals("AsyncReadWriteLock (free, waiting = 0)", rw.toString());
    }

    @Test
    void owner_whoseToStringThrows_failsRequestsAllTheSame() {
        Mute me = new Mute();
        Permit permit = mutex.ownedBy(me).lock().join();
        assertInstanceOf(TimeoutException.class, awaitFailure(mutex.lock(Duration.ofNanos(1))));
        assertInstanceOf(TimeoutException.class, awaitFailure(mutex.lock(Duration.ZERO)));
        assertInstanceOf(
                IllegalStateException.class, awaitFailure(mutex.ownedBy(me).lock()));
        permit.close();
    }

    @Test
    void ownedBy_anExecutorOrADuration_isTheOwner() {
        Futures.Steps steps = new Futures.Steps();
        assertOwner(steps, mutex.ownedBy(steps).lock(steps));
        assertOwner(null, mutex.lock(steps));
        assertOwner(DAY, mutex.ownedBy(DAY).lock(Duration.ZERO));
        assertOwner(steps, rw.ownedBy(steps).lockWrite(steps));
        assertOwner(DAY, rw.ownedBy("me").ownedBy(DAY).lockWrite(DAY));
        assertEquals(0, steps.size());
    }

    private void assertOwner(Object owner, CompletableFuture<? extends Permit> locked) {
        try (Permit permit = locked.join()) {
            assertTrue(permit.isHeld());
            assertEquals(Optional.ofNullable(owner), mutex.isLocked() ? mutex.holder() : rw.writeHolder());
        }
    }

    @Test
    void holdsLock_comparesOwnersByIdentity() {
        AsyncMutex mutex = AsyncMutex.create();
        Object owner = new StringBuilder("me").toString();
        assertFalse(mutex.holdsLock(owner));
        Permit permit = mutex.ownedBy(owner).tryLock().orElseThrow();
        assertTrue(mutex.holdsLock(owner));
        assertFalse(mutex.holdsLock(new StringBuilder("me").toString()));
        permit.close();
        assertFalse(mutex.holdsLock(owner));
    }
}
