package baton.sync.readwrite.contract

import baton.sync.ReadWritePolicy
import baton.sync.assertState
import baton.sync.countdown.assertState
import baton.sync.readwrite.assertFree
import baton.waiting.Callers
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** From reading upgradably to writing, and from writing to reading: no other caller writes in between. */
interface ReadWriteUpgrading : ReadWriteFixture {
    @Test
    fun upgrade_nobodyElseReads_writesAtOnce() =
        runTest {
            for (owner in listOf(null, "t1")) {
                val lock = lock()
                lock.lockUpgradable(owner)
                assertTrue(Callers(this).callAtOnce { lock.upgrade(owner) }.isServed)
                assertState(lock, written = true)
                assertEquals(owner, lock.writeHolder)
                lock.unlockWrite(owner)
                assertFree(lock)
            }
        }

    @Test
    fun upgrade_othersRead_waitsUntilTheyHaveLeft() =
        runTest {
            for (policy in ReadWritePolicy.entries) {
                val lock = lock(policy)
                lock.lockRead()
                lock.lockUpgradable()
                lock.lockRead()
                assertFalse(lock.tryUpgrade())
                assertState(lock, readers = 3)
                val upgrading = Callers(this).call { lock.upgrade() }
                assertState(lock, readers = 3, waiting = 1)
                lock.unlockRead()
                runCurrent()
                assertTrue(upgrading.isWaiting)
                lock.unlockRead()
                assertState(lock, written = true)
                runCurrent()
                assertTrue(upgrading.isServed)
            }
        }

    @Test
    fun upgrade_writersWait_goesBeforeThem() =
        runTest {
            for (policy in ReadWritePolicy.entries) {
                val callers = Callers(this)
                val lock = lock(policy)
                lock.lockUpgradable()
                lock.lockRead()
                callers.call("writer") { lock.lockWrite() }
                callers.call("upgrading") { lock.upgrade() }
                lock.unlockRead()
                runCurrent()
                assertEquals(listOf("upgrading"), callers.served)
                assertState(lock, written = true, waiting = 1)
                lock.unlockWrite()
                runCurrent()
                assertEquals(listOf("upgrading", "writer"), callers.served)
            }
        }

    @Test
    fun tryUpgrade_writersWaitAndNobodyElseReads_writesAtOnce() =
        runTest {
            val lock = lock()
            lock.lockUpgradable()
            val writer = Callers(this).call { lock.lockWrite() }
            assertTrue(lock.tryUpgrade())
            assertState(lock, written = true, waiting = 1)
            lock.unlockWrite()
            runCurrent()
            assertTrue(writer.isServed)
        }

    @Test
    fun lockRead_somebodyUpgrades_waitsUnlessReadersGoFirst() =
        runTest {
            for (policy in ReadWritePolicy.entries) {
                val lock = lock(policy)
                lock.lockRead()
                lock.lockUpgradable()
                val upgrading = Callers(this).call { lock.upgrade() }
                val reader = Callers(this).call { lock.lockRead() }
                val getsIn = policy == ReadWritePolicy.READER_FIRST
                assertEquals(getsIn, reader.isServed)
                lock.unlockRead()
                runCurrent()
                assertEquals(!getsIn, upgrading.isServed)
                if (getsIn) lock.unlockRead()
                runCurrent()
                assertTrue(upgrading.isServed)
                lock.unlockWrite()
                runCurrent()
                assertTrue(reader.isServed)
                assertState(lock, readers = if (getsIn) 0 else 1)
            }
        }

    @Test
    fun lockUpgradable_somebodyUpgrades_waitsUntilItHasWritten() =
        runTest {
            val lock = lock()
            lock.lockRead()
            lock.lockUpgradable("t1")
            val upgrading = Callers(this).call { lock.upgrade("t1") }
            val second = Callers(this).call { lock.lockUpgradable("t2") }
            lock.unlockRead()
            runCurrent()
            assertTrue(upgrading.isServed && second.isWaiting)
            lock.unlockWrite("t1")
            runCurrent()
            assertTrue(second.isServed)
            assertEquals(listOf("t2"), lock.readHolders)
        }

    @Test
    fun cancel_whileUpgrading_stillReadsUpgradably() =
        runTest {
            for (owner in listOf(null, "t1")) {
                val lock = lock()
                lock.lockRead()
                lock.lockUpgradable(owner)
                val upgrading = Callers(this).call { lock.upgrade(owner) }
                upgrading.cancel()
                assertState(lock, readers = 2)
                runCurrent()
                assertTrue(upgrading.isCancelled)
                lock.unlockRead()
                assertState(lock, readers = 1)
                assertTrue(lock.tryUpgrade(owner))
                lock.unlockWrite(owner)
                assertFree(lock)
            }
        }

    @Test
    fun cancel_whileUpgrading_letsInTheReadersItHeldBack() =
        runTest {
            for (policy in listOf(ReadWritePolicy.PHASE_FAIR, ReadWritePolicy.WRITER_FIRST)) {
                val lock = lock(policy)
                lock.lockRead()
                lock.lockUpgradable()
                val upgrading = Callers(this).call { lock.upgrade() }
                val readers = List(3) { Callers(this).call { lock.lockRead() } }
                assertTrue(readers.all { it.isWaiting })
                upgrading.cancel()
                assertState(lock, readers = 5)
                runCurrent()
                assertTrue(readers.all { it.isServed })
            }
        }

    @Test
    fun cancel_whileUpgradingAndAWriterWaits_readersStayHeldBack() =
        runTest {
            val lock = lock()
            lock.lockRead()
            lock.lockUpgradable()
            val upgrading = Callers(this).call { lock.upgrade() }
            val writer = Callers(this).call { lock.lockWrite() }
            val reader = Callers(this).call { lock.lockRead() }
            upgrading.cancel()
            assertState(lock, readers = 2, waiting = 2)
            lock.unlockRead()
            lock.unlockUpgradable()
            runCurrent()
            assertTrue(writer.isServed && reader.isWaiting)
        }

    @Test
    fun cancel_upgradedButNotRunYet_stillReadsUpgradably() =
        runTest {
            for (owner in listOf(null, "t1")) {
                val lock = lock()
                lock.lockRead()
                lock.lockUpgradable(owner)
                val upgrading = Callers(this).call { lock.upgrade(owner) }
                val reader = Callers(this).call { lock.lockRead() }
                lock.unlockRead()
                assertState(lock, written = true, waiting = 1)
                upgrading.cancel()
                runCurrent()
                assertTrue(upgrading.isCancelled && reader.isServed)
                assertState(lock, readers = 2)
                assertNull(lock.writeHolder)
                lock.unlockUpgradable(owner)
                lock.unlockRead()
                assertFree(lock)
            }
        }

    @Test
    fun cancel_upgradedButNotRunYetAndAWriterWaits_writerComesInOnlyThen() =
        runTest {
            val lock = lock()
            lock.lockRead()
            lock.lockUpgradable()
            val upgrading = Callers(this).call { lock.upgrade() }
            val writer = Callers(this).call { lock.lockWrite() }
            lock.unlockRead()
            upgrading.cancel()
            runCurrent()
            assertState(lock, readers = 1, waiting = 1)
            lock.unlockUpgradable()
            runCurrent()
            assertTrue(writer.isServed)
        }

    @Test
    fun downgrade_nobodyWaits_readsPlainly() =
        runTest {
            for (owner in listOf(null, "t1")) {
                val lock = lock()
                lock.lockWrite(owner)
                lock.downgrade(owner)
                assertState(lock, readers = 1)
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
    fun downgrade_othersWait_readersComeInAsIfTheWriterHadLeft() =
        runTest {
            for (policy in ReadWritePolicy.entries) {
                val lock = lock(policy)
                lock.lockWrite()
                val writer = Callers(this).call { lock.lockWrite() }
                val readers = List(2) { Callers(this).call { lock.lockRead() } }
                lock.downgrade()
                runCurrent()
                val comeIn = policy != ReadWritePolicy.WRITER_FIRST
                assertTrue(readers.all { it.isServed == comeIn })
                assertState(lock, readers = if (comeIn) 3 else 1, waiting = if (comeIn) 1 else 3)
                repeat(lock.readers) {
                    assertTrue(writer.isWaiting)
                    lock.unlockRead()
                    runCurrent()
                }
                assertTrue(writer.isServed)
            }
        }

    @Test
    fun downgrade_upgradableOneWaits_comesInBesideTheReader() =
        runTest {
            val lock = lock()
            lock.lockWrite()
            val upgradable = Callers(this).call { lock.lockUpgradable() }
            lock.downgrade()
            runCurrent()
            assertTrue(upgradable.isServed)
            assertState(lock, readers = 2)
            val upgrading = Callers(this).call { lock.upgrade() }
            lock.unlockRead()
            runCurrent()
            assertTrue(upgrading.isServed)
        }

    @Test
    fun downgrade_afterUpgrade_readsPlainlyAndAnotherMayReadUpgradably() =
        runTest {
            for (owner in listOf(null, "t1")) {
                val lock = lock()
                lock.lockUpgradable(owner)
                val second = Callers(this).call { lock.lockUpgradable("t2") }
                lock.upgrade(owner)
                lock.downgrade(owner)
                runCurrent()
                assertTrue(second.isServed)
                assertState(lock, readers = 2)
                lock.unlockRead(owner)
                lock.unlockUpgradable("t2")
                assertFree(lock)
            }
        }

    @Test
    fun upgrade_writersComeAndGo_whatWasReadStillHolds() =
        runTest {
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
