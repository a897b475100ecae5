package baton.sync.readwrite.contract

import baton.sync.ReadWritePolicy.PHASE_FAIR
import baton.sync.ReadWritePolicy.READER_FIRST
import baton.sync.ReadWritePolicy.WRITER_FIRST
import baton.waiting.Callers
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** From reading upgradably to writing, and from writing to reading: no other caller writes in between. */
interface ReadWriteUpgrading : ReadWriteFixture {
    @Test
    fun upgrade_noOtherReader_writesAtOnce() = eachPolicy {
        come("u1", "w1")
        assertTrue(callers.callAtOnce("upgrade") { lock.upgrade(owner("u1")) }.isServed)
        assertEquals(owner("u1"), lock.writeHolder)
        assert("u1 upgrade", written = true, waiting = 1)
        leaveUpgraded("u1")
        assert("u1 upgrade w1", written = true)
        leave("w1")
        assertTrue(lock.tryLockUpgradable() && lock.tryUpgrade())
        lock.unlockWrite()
        assertFree(lock)
    }

    @Test
    fun upgrade_othersReadAndWritersWait_waitsForTheReadersAndGoesBeforeTheWriters() = eachPolicy {
        come("r1", "u1", "r2", "w1")
        assertFalse(lock.tryUpgrade(owner("u1")))
        upgrade("u1")
        assert("r1 u1 r2", readers = 3, waiting = 2)
        leave("r1")
        assert("r1 u1 r2", readers = 2, waiting = 2)
        leave("r2")
        assertState(written = true, waiting = 1)
        assert("r1 u1 r2 upgrade", written = true, waiting = 1)
        leaveUpgraded("u1")
        assert("r1 u1 r2 upgrade w1", written = true)
    }

    @Test
    fun lock_anotherUpgrades_waitsUntilItHasWrittenUnlessReadersGoFirst() = eachPolicy { policy ->
        come("r1", "u1")
        upgrade("u1")
        come("r2", "u2")
        val getsIn = policy == READER_FIRST
        assert(if (getsIn) "r1 u1 r2" else "r1 u1", readers = if (getsIn) 3 else 2, waiting = if (getsIn) 2 else 3)
        leave("r1")
        if (getsIn) leave("r2")
        scope.testScheduler.runCurrent()
        assertEquals("upgrade", callers.served.last())
        assertState(written = true, waiting = if (getsIn) 1 else 2)
        leaveUpgraded("u1")
        scope.testScheduler.runCurrent()
        assertTrue(get("u2").isServed)
        assertTrue(get("r2").isServed)
    }

    @Test
    fun cancel_whileUpgrading_stillReadsUpgradablyAndLetsInTheReadersItHeldBack() = eachPolicy { policy ->
        come("r1", "u1")
        upgrade("u1")
        cancel("upgrade")
        assertState(readers = 2)
        assert("r1 u1", readers = 2)
        assertTrue(get("upgrade").isCancelled)
        upgrade("u1")
        val areHeldBack = policy != READER_FIRST
        if (areHeldBack) come("r2", "r3")
        cancel("upgrade")
        assert(if (areHeldBack) "r1 u1 r2 r3" else "r1 u1", readers = if (areHeldBack) 4 else 2)
        leave("r1")
        if (areHeldBack) leave("r2", "r3")
        assertState(readers = 1)
        assertTrue(lock.tryUpgrade(owner("u1")))
        leaveUpgraded("u1")
        assertFree(lock)
    }

    @Test
    fun cancel_whileUpgradingAndAWriterWaits_readersStayHeldBack() =
        scene(PHASE_FAIR) {
            come("r1", "u1")
            upgrade("u1")
            come("w1", "r2")
            cancel("upgrade")
            assertState(readers = 2, waiting = 2)
            leave("r1", "u1")
            assert("r1 u1 w1", written = true, waiting = 1)
        }

    @Test
    fun cancel_upgradedButNotRunYet_stillReadsUpgradably() =
        scene(PHASE_FAIR) {
            come("r1", "u1")
            upgrade("u1")
            come("r2")
            leave("r1")
            assertState(written = true, waiting = 1)
            cancel("upgrade")
            assert("r1 u1 r2", readers = 2)
            assertTrue(get("upgrade").isCancelled)
            assertNull(lock.writeHolder)
            leave("u1", "r2")
            assertFree(lock)
        }

    @Test
    fun cancel_upgradedButNotRunYetAndAWriterWaits_writerComesInOnlyThen() =
        scene(PHASE_FAIR) {
            come("r1", "u1")
            upgrade("u1")
            come("w1")
            leave("r1")
            cancel("upgrade")
            assert("r1 u1", readers = 1, waiting = 1)
            leave("u1")
            assert("r1 u1 w1", written = true)
        }

    @Test
    fun downgrade_noWaiters_readsPlainly() = eachPolicy {
        for (isUpgraded in listOf(false, true)) {
            if (isUpgraded) come("u1") else come("w1")
            val owner = if (isUpgraded) owner("u1") else owner("w1")
            if (isUpgraded) lock.upgrade(owner)
            lock.downgrade(owner)
            assertState(readers = 1)
            assertEquals(listOfNotNull(owner), lock.readHolders)
            assertNull(lock.writeHolder)
            assertTrue(lock.tryLockRead() && lock.tryLockUpgradable())
            assertFalse(lock.tryLockWrite())
            lock.unlockUpgradable()
            lock.unlockRead()
            lock.unlockRead(owner)
            assertFree(lock)
        }
    }

    @Test
    fun downgrade_othersWait_readersComeInAsIfTheWriterHadLeft() = eachPolicy { policy ->
        come("w0", "w1", "r1", "r2")
        lock.downgrade(owner("w0"))
        val comeIn = policy != WRITER_FIRST
        assert(if (comeIn) "w0 r1 r2" else "w0", readers = if (comeIn) 3 else 1, waiting = if (comeIn) 1 else 3)
        if (comeIn) leave("r1", "r2")
        assertState(readers = 1, waiting = if (comeIn) 1 else 3)
        lock.unlockRead(owner("w0"))
        scope.testScheduler.runCurrent()
        assertEquals("w1", callers.served.last())
    }

    @Test
    fun downgrade_upgradableOneWaits_comesInBesideTheReader() = eachPolicy {
        for (isUpgraded in listOf(false, true)) {
            val first = if (isUpgraded) "u0" else "w0"
            come(first, "u1")
            if (isUpgraded) lock.upgrade(owner(first))
            lock.downgrade(owner(first))
            scope.testScheduler.runCurrent()
            assertTrue(get("u1").isServed)
            assertState(readers = 2)
            upgrade("u1")
            assertTrue(get("upgrade").isWaiting)
            lock.unlockRead(owner(first))
            scope.testScheduler.runCurrent()
            assertTrue(get("upgrade").isServed)
            leaveUpgraded("u1")
            assertFree(lock)
        }
    }

    @Test
    fun upgrade_writersComeAndGo_whatWasReadStillHolds() = runTest {
        val lock = lock()
        var value = 0
        repeat(20) {
            Callers(this).call {
                lock.lockUpgradable()
                val seen = value
                lock.upgrade()
                assertEquals(seen, value)
                value++
                lock.downgrade()
                assertEquals(seen + 1, value)
                lock.unlockRead()
            }
            Callers(this).call {
                lock.lockWrite()
                value++
                lock.unlockWrite()
            }
        }
        assertEquals(40, value)
        assertFree(lock)
    }
}
