package baton.interop.locks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncReadWriteLock;
import baton.interop.Permit;
import baton.interop.UpgradablePermit;
import baton.interop.WritePermit;
import baton.sync.ReadWritePolicy;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** The downgrade of a write permit. */
class DowngradeTest {
    private final AsyncReadWriteLock rw = AsyncReadWriteLock.create(ReadWritePolicy.PHASE_FAIR, "cache");

    private void assertState(int readers, boolean written, int waiting) {
        assertEquals(
                "readers = " + readers + ", written = " + written + ", waiting = " + waiting,
                "readers = " + rw.readers() + ", written = " + rw.isWriteLocked() + ", waiting = " + rw.waiting());
    }

    private void assertFree() {
        assertState(0, false, 0);
    }

    @Test
    void downgrade_letsReadersInAndKeepsWritersOut() {
        WritePermit permit = rw.lockWrite("me").join();
        CompletableFuture<Permit> reader = rw.lockRead();
        CompletableFuture<WritePermit> writer = rw.lockWrite();
        permit.downgrade();
        assertTrue(reader.isDone());
        assertFalse(writer.isDone());
        assertEquals(List.of("me"), rw.readHolders());
        assertState(2, false, 1);
        assertTrue(permit.isHeld());
        permit.close();
        permit.close();
        assertState(1, false, 1);
        reader.join().close();
        writer.join().close();
        assertFree();
    }

    @Test
    void downgrade_ofAPermitThatDoesNotWrite_isRefusedAndChangesNothing() {
        WritePermit permit = rw.lockWrite().join();
        permit.downgrade();
        assertThrows(IllegalStateException.class, permit::downgrade);
        assertState(1, false, 0);
        permit.close();
        var e = assertThrows(IllegalStateException.class, permit::downgrade);
        assertEquals("downgrade, but closed: lock of ReadWriteLock 'cache' (free, waiting = 0)", e.getMessage());
        Permit other = rw.lockWrite().join();
        assertThrows(IllegalStateException.class, permit::downgrade);
        assertState(0, true, 0);
        other.close();
    }

    @Test
    void downgrade_afterUpgrade_readsPlainlyAndAnotherMayReadUpgradably() {
        UpgradablePermit permit = rw.lockUpgradable().join();
        permit.upgrade().join().downgrade();
        UpgradablePermit other = rw.tryLockUpgradable().orElseThrow();
        assertTrue(other.tryUpgrade().isEmpty());
        permit.close();
        assertTrue(other.tryUpgrade().isPresent());
        other.close();
        assertFree();
    }

    @Test
    void downgrade_closedByTheCallbackOfAReaderItGrants_unlocksOnce() {
        WritePermit permit = rw.lockWrite().join();
        CompletableFuture<Permit> reader = rw.lockRead();
        CompletableFuture<Void> closed = reader.thenAccept(r -> permit.close());
        permit.downgrade();
        closed.join();
        assertState(1, false, 0);
        assertFalse(permit.isHeld());
        permit.close();
        reader.join().close();
        assertFree();
    }
}
