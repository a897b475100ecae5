package baton.interop.stress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncReadWriteLock;
import baton.interop.Permit;
import baton.interop.UpgradablePermit;
import baton.interop.WritePermit;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Two threads use one permit concurrently: in any order the lock is released exactly once. */
@Tag("any-jdk")
@Timeout(300)
class ReadWritePermitStressTest {
    private static final int ROUNDS = 2_000;

    private final AsyncReadWriteLock rw = AsyncReadWriteLock.create();
    private final Race race = new Race();
    private final AtomicInteger refused = new AtomicInteger();

    /** Runs both calls concurrently, and ignores that the permit refuses them. */
    private void together(int round, Runnable one, Runnable other) {
        race.run(round, () -> tryRun(one), () -> tryRun(other));
    }

    private void tryRun(Runnable call) {
        try {
            call.run();
        } catch (IllegalStateException e) {
            refused.incrementAndGet();
        }
    }

    private void assertState(int readers, boolean written) {
        assertEquals(readers + " " + written + " 0", rw.readers() + " " + rw.isWriteLocked() + " " + rw.waiting());
    }

    @Test
    void close_racingWithDowngrade_givesBackWhatIsHeld() {
        for (int round = 0; round < ROUNDS; round++) {
            WritePermit permit = rw.lockWrite().join();
            CompletableFuture<Permit> reader = rw.lockRead();
            together(round, permit::close, permit::downgrade);
            assertState(1, false);
            reader.join().close();
        }
    }

    @Test
    void close_racingWithTheGrantOfAnUpgrade_givesBackWhatIsHeld() {
        for (int round = 0; round < ROUNDS; round++) {
            Permit reader = rw.lockRead().join();
            UpgradablePermit permit = rw.lockUpgradable().join();
            CompletableFuture<WritePermit> upgrade = permit.upgrade();
            together(round, permit::close, reader::close);
            assertTrue(upgrade.isDone());
            assertState(0, false);
        }
    }

    @Test
    void close_racingWithTheEndOfAnUpgrade_givesBackOnce() {
        for (int round = 0; round < ROUNDS; round++) {
            Permit reader = rw.lockRead().join();
            UpgradablePermit permit = rw.lockUpgradable().join();
            CompletableFuture<WritePermit> upgrade = permit.upgrade();
            together(round, permit::close, () -> upgrade.cancel(true));
            assertTrue(upgrade.isCancelled());
            assertState(1, false);
            reader.close();
        }
    }

    @Test
    void close_racingWithTheBeginningOfAnUpgrade_givesBackWhatIsHeld() {
        for (int round = 0; round < ROUNDS; round++) {
            Permit reader = round % 2 == 0 ? rw.lockRead().join() : null;
            UpgradablePermit permit = rw.lockUpgradable().join();
            CompletableFuture<CompletableFuture<WritePermit>> upgrade = new CompletableFuture<>();
            boolean tries = round % 3 == 0;
            together(round, permit::close, () -> {
                if (tries) permit.tryUpgrade();
                else upgrade.complete(permit.upgrade());
            });
            if (!tries) assertTrue(upgrade.join().isDone());
            assertState(reader == null ? 0 : 1, false);
            if (reader != null) reader.close();
        }
    }

    @Test
    void cancel_racingWithTheGrantOfAnUpgrade_leavesOneOfTheTwo() {
        for (int round = 0; round < ROUNDS; round++) {
            Permit reader = rw.lockRead().join();
            UpgradablePermit permit = rw.lockUpgradable().join();
            CompletableFuture<WritePermit> upgrade = permit.upgrade();
            together(round, reader::close, () -> upgrade.cancel(true));
            if (upgrade.isCancelled()) {
                assertState(1, false);
                if (round % 2 == 0) assertTrue(permit.tryUpgrade().isPresent());
            } else {
                assertState(0, true);
                if (round % 2 == 0) upgrade.join().downgrade();
            }
            permit.close();
            assertState(0, false);
        }
    }

    @Test
    void upgrade_byTwoAtOnce_isOneUpgrade() {
        for (int round = 0; round < ROUNDS; round++) {
            UpgradablePermit permit = rw.lockUpgradable().join();
            refused.set(0);
            AtomicInteger upgraded = new AtomicInteger();
            together(round, () -> permit.tryUpgrade().ifPresent(p -> upgraded.incrementAndGet()), () -> {
                CompletableFuture<WritePermit> upgrade = permit.upgrade();
                assertTrue(upgrade.isDone());
                (upgrade.isCompletedExceptionally() ? refused : upgraded).incrementAndGet();
            });
            assertEquals("1 1", upgraded + " " + refused);
            assertState(0, true);
            permit.close();
        }
    }

    @Test
    void downgrade_byTwoAtOnce_isOneDowngrade() {
        for (int round = 0; round < ROUNDS; round++) {
            WritePermit permit = rw.lockWrite().join();
            refused.set(0);
            together(round, permit::downgrade, permit::downgrade);
            assertEquals(1, refused.get());
            assertState(1, false);
            permit.close();
            assertFalse(permit.isHeld());
        }
    }
}
