package baton.interop.locks;

import static baton.interop.Futures.awaitFailure;
import static baton.interop.Futures.failure;
import static org.junit.jupiter.api.Assertions.assertEquals;
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
        Permit permit = mutex.lock("me").join();
        refused(
                List.of(
                        () -> mutex.lock("me"),
                        () -> mutex.lock("me", Futures.REJECTING),
                        () -> mutex.lock("me", Duration.ZERO),
                        () -> mutex.lock("me", DAY)),
                () -> mutex.tryLock("me"));
        assertEquals("AsyncMutex 'account' (locked by me, waiting = 0)", mutex.toString());
        permit.close();
        assertEquals("AsyncMutex 'account' (free)", mutex.toString());
    }

    @Test
    void readWriteLock_writtenByTheSameOwner_refusesEveryFormAndStaysAsItIs() {
        Permit permit = rw.lockWrite("me").join();
        refused(
                List.of(
                        () -> rw.lockRead("me"),
                        () -> rw.lockRead("me", Duration.ZERO),
                        () -> rw.lockRead("me", Futures.REJECTING),
                        () -> rw.lockWrite("me"),
                        () -> rw.lockWrite("me", Duration.ZERO),
                        () -> rw.lockWrite("me", Futures.REJECTING),
                        () -> rw.lockUpgradable("me"),
                        () -> rw.lockUpgradable("me", Duration.ZERO),
                        () -> rw.lockUpgradable("me", Futures.REJECTING)),
                () -> rw.tryLockRead("me"),
                () -> rw.tryLockWrite("me"),
                () -> rw.tryLockUpgradable("me"));
        assertEquals("AsyncReadWriteLock (written by me, waiting = 0)", rw.toString());
        permit.close();
        assertEquals("AsyncReadWriteLock (free, waiting = 0)", rw.toString());
    }

    @Test
    void reader_thatWouldWaitForItself_isRefused() {
        Permit read = rw.lockRead("me").join();
        refused(List.of(() -> rw.lockWrite("me"), () -> rw.lockWrite("me", DAY)), () -> rw.tryLockWrite("me"));
        CompletableFuture<WritePermit> writer = rw.lockWrite("writer");
        Throwable e = failure(rw.lockRead("me"));
        assertTrue(e.getMessage().contains("me") && e.getMessage().contains("writer"), e.getMessage());
        refused(List.of(
                () -> rw.lockRead("me", DAY),
                () -> rw.lockRead("me", Futures.REJECTING),
                () -> rw.lockUpgradable("me")));
        assertTrue(rw.tryLockRead("me").isEmpty());
        read.close();
        writer.join().close();
        assertEquals("AsyncReadWriteLock (free, waiting = 0)", rw.toString());
    }

    @Test
    void owner_whoseToStringThrows_failsRequestsAllTheSame() {
        Mute me = new Mute();
        Permit permit = mutex.lock(me).join();
        assertInstanceOf(TimeoutException.class, awaitFailure(mutex.lock(Duration.ofNanos(1))));
        assertInstanceOf(TimeoutException.class, awaitFailure(mutex.lock(Duration.ZERO)));
        assertInstanceOf(IllegalStateException.class, awaitFailure(mutex.lock(me)));
        permit.close();
    }

    /** An executor or a duration as the last argument is taken for the option, unless another one follows. */
    @Test
    void owner_thatIsAnExecutorOrADuration_isTakenForOneWhereItCanBeToldApart() {
        Futures.Steps steps = new Futures.Steps();
        assertOwner(steps, mutex.lock(steps));
        assertOwner(steps, mutex.lock(steps, DAY));
        assertOwner(steps, mutex.lock(steps, steps));
        assertOwner(null, mutex.lock(DAY));
        assertOwner(DAY, mutex.lock((Object) DAY));
        assertOwner(DAY, mutex.lock(DAY, Duration.ZERO));
        assertOwner(steps, rw.lockWrite(steps));
        assertOwner(null, rw.lockWrite(DAY));
        assertOwner(DAY, rw.lockWrite((Object) DAY));
        assertOwner(DAY, rw.lockWrite(DAY, Duration.ZERO));
        assertEquals(0, steps.size());
    }

    private void assertOwner(Object owner, CompletableFuture<? extends Permit> locked) {
        try (Permit permit = locked.join()) {
            assertTrue(permit.isHeld());
            assertEquals(Optional.ofNullable(owner), mutex.isLocked() ? mutex.holder() : rw.writeHolder());
        }
    }
}
