package baton.interop.locks;

import static baton.interop.Futures.failure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncReadWriteLock;
import baton.interop.Futures;
import baton.interop.Futures.Steps;
import baton.interop.NoTimerThread;
import baton.interop.Permit;
import baton.interop.UpgradablePermit;
import baton.interop.WritePermit;
import baton.sync.ReadWritePolicy;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A permit whose mode changes, and the mode that {@code close} unlocks then. */
class ReadWritePermitTest {
    private static final Duration DAY = Duration.ofDays(1);

    private final AsyncReadWriteLock rw = AsyncReadWriteLock.create(ReadWritePolicy.PHASE_FAIR, "cache");

    private void assertState(int readers, boolean written, int waiting) {
        assertEquals(
                "readers = " + readers + ", written = " + written + ", waiting = " + waiting,
                "readers = " + rw.readers() + ", written = " + rw.isWriteLocked() + ", waiting = " + rw.waiting());
    }

    private void assertFree() {
        assertState(0, false, 0);
    }

    // ---- upgrade

    @Test
    void upgrade_withoutOtherReaders_isDoneAtOnceWithTheSamePermit() {
        for (boolean owned : List.of(false, true)) {
            UpgradablePermit permit = (owned ? rw.ownedBy("me").lockUpgradable() : rw.lockUpgradable()).join();
            assertSame(permit, permit.upgrade().join());
            assertState(0, true, 0);
            assertEquals(owned ? Optional.of("me") : Optional.empty(), rw.writeHolder());
            assertTrue(permit.isHeld());
            permit.close();
            assertFree();
        }
    }

    @Test
    void upgrade_noThreadForTheTimer_throwsAndLeavesThePermitUpgradable() {
        Permit reader = rw.lockRead().join();
        UpgradablePermit permit = rw.lockUpgradable().join();
        NoTimerThread.during(() -> assertThrows(OutOfMemoryError.class, () -> permit.upgrade(DAY)));
        assertState(2, false, 0);
        reader.close();
        permit.upgrade().join().close();
        assertFree();
    }

    /** Asserts that every way to upgrade is refused, in a state in which the permit does not read upgradably. */
    private void assertNotUpgradable(UpgradablePermit permit) {
        assertInstanceOf(IllegalStateException.class, failure(permit.upgrade()));
        assertInstanceOf(IllegalStateException.class, failure(permit.upgrade(Futures.REJECTING)));
        assertInstanceOf(IllegalStateException.class, failure(permit.upgrade(Duration.ZERO)));
        assertInstanceOf(IllegalStateException.class, failure(permit.upgrade(DAY)));
        assertThrows(IllegalStateException.class, permit::tryUpgrade);
    }

    @Test
    void upgrade_ofAPermitThatIsNotUpgradable_isRefusedAndChangesNothing() {
        Permit reader = rw.lockRead().join();
        UpgradablePermit permit = rw.lockUpgradable().join();
        CompletableFuture<WritePermit> upgrade = permit.upgrade();
        assertNotUpgradable(permit);
        assertState(2, false, 1);
        reader.close();
        assertNotUpgradable(permit);
        assertState(0, true, 0);
        upgrade.join().downgrade();
        assertNotUpgradable(permit);
        assertState(1, false, 0);
        permit.close();
        assertNotUpgradable(permit);
        assertFree();
    }

    @Test
    void upgrade_byAnOwnerThatReadsPlainlyToo_isRefusedAndLeavesThePermitAsItWas() {
        UpgradablePermit permit = rw.ownedBy("me").lockUpgradable().join();
        Permit reader = rw.ownedBy("me").lockRead().join();
        assertInstanceOf(IllegalStateException.class, failure(permit.upgrade()));
        assertInstanceOf(IllegalStateException.class, failure(permit.upgrade(Duration.ZERO)));
        assertInstanceOf(IllegalStateException.class, failure(permit.upgrade(DAY)));
        assertThrows(IllegalStateException.class, permit::tryUpgrade);
        assertState(2, false, 0);
        reader.close();
        assertTrue(permit.tryUpgrade().isPresent());
        permit.close();
        assertFree();
    }

    // ---- close

    @Test
    void close_whileAnUpgradeWaits_withdrawsItAndUnlocksBeforeItIsSeenCancelled() {
        for (boolean owned : List.of(false, true)) {
            Permit reader = rw.lockRead().join();
            UpgradablePermit permit = (owned ? rw.ownedBy("me").lockUpgradable() : rw.lockUpgradable()).join();
            CompletableFuture<WritePermit> upgrade = permit.upgrade();
            CompletableFuture<Permit> held = rw.lockRead();
            CompletableFuture<UpgradablePermit> next = rw.lockUpgradable();
            CompletableFuture<String> seen = upgrade.handle((p, e) -> rw.readers() + " " + rw.waiting());
            permit.close();
            assertTrue(upgrade.isCancelled());
            assertEquals("3 0", seen.join());
            permit.close();
            assertState(3, false, 0);
            reader.close();
            held.join().close();
            next.join().close();
            assertFree();
        }
    }

    @Test
    void close_byACallbackOfTheCancelledUpgrade_unlocksOnce() {
        Permit reader = rw.lockRead().join();
        UpgradablePermit permit = rw.lockUpgradable().join();
        CompletableFuture<WritePermit> upgrade = permit.upgrade();
        CompletableFuture<Void> closed = upgrade.handle((p, e) -> {
            permit.close();
            return null;
        });
        upgrade.cancel(true);
        closed.join();
        assertState(1, false, 0);
        reader.close();
        assertFree();
    }

    @Test
    void close_whileTheUpgradeIsWithItsExecutor_unlocksTheWriting() {
        Steps steps = new Steps();
        Permit reader = rw.lockRead().join();
        UpgradablePermit permit = rw.lockUpgradable().join();
        CompletableFuture<WritePermit> upgrade = permit.upgrade(steps);
        reader.close();
        assertNotUpgradable(permit);
        permit.close();
        assertFree();
        assertSame(permit, upgrade.join());
        Permit writer = rw.lockWrite().join();
        steps.runAll();
        assertState(0, true, 0);
        writer.close();
    }

    @Test
    void close_whenTheFutureOfTheUpgradeWasNeverRead_unlocksTheWriting() {
        Permit reader = rw.lockRead().join();
        try (UpgradablePermit permit = rw.lockUpgradable().join()) {
            CompletableFuture<WritePermit> forgotten = permit.upgrade();
            reader.close();
            assertTrue(forgotten.isDone());
            assertState(0, true, 0);
        }
        assertFree();
    }

    @Test
    void close_afterTheUpgradeWasCompletedFromOutside_unlocksTheReading() {
        Permit reader = rw.lockRead().join();
        UpgradablePermit permit = rw.lockUpgradable().join();
        assertTrue(permit.upgrade().complete(null));
        assertTrue(permit.upgrade().completeExceptionally(new UnsupportedOperationException()));
        permit.upgrade().obtrudeValue(null);
        assertState(2, false, 0);
        reader.close();
        permit.close();
        assertFree();
    }

    // ---- toString, and releases that bypass the permit

    @Test
    void toString_saysWhatIsHeldAtThatMoment() {
        String free = " of ReadWriteLock 'cache' (free, waiting = 0)";
        String read = " of ReadWriteLock 'cache' (readers = 1, waiting = 0)";
        Permit reader = rw.lockRead().join();
        assertEquals("held: read lock" + read, reader.toString());
        reader.close();
        assertEquals("closed: lock" + free, reader.toString());
        UpgradablePermit permit = rw.lockUpgradable().join();
        assertEquals("held: upgradable read lock" + read, permit.toString());
        reader = rw.lockRead().join();
        CompletableFuture<WritePermit> upgrade = permit.upgrade();
        assertEquals(
                "held: upgradable read lock of ReadWriteLock 'cache' (readers = 2, waiting = 1)", permit.toString());
        reader.close();
        assertEquals("held: write lock of ReadWriteLock 'cache' (written, waiting = 0)", permit.toString());
        upgrade.join().downgrade();
        assertEquals("held: read lock" + read, permit.toString());
        permit.close();
        assertEquals("closed: lock" + free, permit.toString());
    }

    @Test
    void permit_releasedByOtherCode_failsWhenUsed() {
        UpgradablePermit permit = rw.ownedBy("me").lockUpgradable().join();
        rw.kotlin().unlockUpgradable("me");
        assertInstanceOf(IllegalStateException.class, failure(permit.upgrade()));
        assertThrows(IllegalStateException.class, permit::tryUpgrade);
        assertThrows(IllegalStateException.class, permit::close);
        permit.close();
        WritePermit writer = rw.ownedBy("me").lockWrite().join();
        rw.kotlin().unlockWrite("me");
        assertThrows(IllegalStateException.class, writer::downgrade);
        assertThrows(IllegalStateException.class, writer::close);
        writer.close();
        Permit reader = rw.ownedBy("me").lockRead().join();
        rw.kotlin().unlockRead("me");
        assertThrows(IllegalStateException.class, reader::close);
        reader.close();
        assertFree();
    }

    @Test
    void close_ofAnOrphanReleasedByOtherCode_stillEndsTheUpgrade() {
        Steps steps = new Steps();
        Permit reader = rw.lockRead().join();
        UpgradablePermit permit = rw.lockUpgradable().join();
        CompletableFuture<WritePermit> upgrade = permit.upgrade(steps);
        reader.close();
        rw.kotlin().unlockWrite(null);
        permit.close();
        assertTrue(upgrade.isDone());
        assertFree();
    }

    // ---- downgrade

    @Test
    void downgrade_ofAPermitThatDoesNotWrite_isRefusedAndChangesNothing() {
        WritePermit permit = rw.lockWrite().join();
        permit.downgrade();
        assertThrows(IllegalStateException.class, permit::downgrade);
        assertState(1, false, 0);
        permit.close();
        var e = assertThrows(IllegalStateException.class, permit::downgrade);
        assertEquals(
                "downgrade of a permit that does not hold the write lock (closed: lock of ReadWriteLock 'cache' (free, waiting = 0))",
                e.getMessage());
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
