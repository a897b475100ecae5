package baton.sync.readwrite.contract

import baton.sync.ReadWritePolicy
import baton.sync.assertContains
import baton.sync.assertState
import baton.sync.countdown.assertState
import baton.sync.readwrite.assertFree
import baton.waiting.Callers
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** The owners that hold the lock, what that allows, and that no owner waits for itself. */
interface ReadWriteOwners : ReadWriteFixture {
    @Test
    fun lock_withOwner_showsTheHolders() = runTest {
        val lock = lock()
        lock.lockRead("t1")
        lock.lockRead("t2")
        lock.lockRead()
        lock.lockUpgradable("t3")
        assertHolders(lock, "t1", "t2", "t3")
        assertState(lock, readers = 4)
        lock.unlockRead("t1")
        assertHolders(lock, "t2", "t3")
        lock.unlockRead("t2")
        lock.unlockUpgradable("t3")
        assertHolders(lock)
        lock.unlockRead()
        lock.lockWrite("t4")
        assertHolders(lock, writer = "t4")
        lock.unlockWrite("t4")
        assertFree(lock)
    }

    @Test
    fun lockRead_againBySameOwner_isCountedAndMustBeUnlockedAsOften() = runTest {
        val lock = lock()
        lock.lockUpgradable("t1")
        repeat(3) { lock.lockRead("t1") }
        assertState(lock, readers = 4)
        assertEquals(listOf("t1"), lock.readHolders)
        repeat(3) { lock.unlockRead("t1") }
        assertThrows<IllegalStateException> { lock.unlockRead("t1") }
        assertHolders(lock, "t1")
        lock.unlockUpgradable("t1")
        assertFree(lock)
    }

    @Test
    fun lock_byAnOwnerThatHoldsItAlready_throwsAndNamesIt() = runTest {
        for (held in Access.entries) {
            for (wanted in Access.entries) {
                if (wanted == Access.READ && held != Access.WRITE) continue
                if (wanted == Access.UPGRADABLE && held == Access.READ) continue
                for (waiters in 0..1) {
                    val lock = lock(name = "cache")
                    held.lock(lock, "t1")
                    repeat(waiters) { Callers(this).call { lock.lockWrite("t2") } }
                    val before = "$lock"
                    val calls = listOf<suspend () -> Any?>({ wanted.lock(lock, "t1") }, { wanted.tryLock(lock, "t1") })
                    for (call in calls) {
                        assertContains(assertThrows<IllegalStateException> { call() }.message, "cache", "t1")
                    }
                    assertEquals(before, "$lock")
                    held.unlock(lock, "t1")
                    assertState(lock, written = waiters == 1)
                }
            }
        }
    }

    private class SelfWait(
        val by: String,
        val other: String,
        val wanted: List<Access>,
        val prepare: suspend Callers.(ReadWriteLockFace) -> Unit,
    )

    private val selfWaits: List<SelfWait>
        get() =
            listOf(
                SelfWait("t1", "without an owner", listOf(Access.READ, Access.UPGRADABLE)) {
                    it.lockRead("t1")
                    call { it.lockWrite() }
                },
                SelfWait("t1", "t2", listOf(Access.READ, Access.UPGRADABLE)) {
                    it.lockRead("t1")
                    call { it.lockWrite("t2") }
                },
                SelfWait("t1", "t2", listOf(Access.READ)) {
                    it.lockUpgradable("t1")
                    call { it.lockWrite("t2") }
                },
                SelfWait("t1", "t2", listOf(Access.READ, Access.UPGRADABLE)) {
                    it.lockRead("t1")
                    it.lockUpgradable("t2")
                    call { it.upgrade("t2") }
                },
                SelfWait("t1", "t2", listOf(Access.UPGRADABLE)) {
                    it.lockRead("t1")
                    it.lockUpgradable("t2")
                },
            )

    /** tokio #2849: a reader that reads again behind a writer that waits for it. */
    @Test
    fun lock_behindOneThatWaitsForTheCaller_throwsAndNamesBothAndTryLockIsRefused() = runTest {
        for (policy in listOf(ReadWritePolicy.PHASE_FAIR, ReadWritePolicy.WRITER_FIRST)) {
            for (case in selfWaits) {
                for (wanted in case.wanted) {
                    val lock = lock(policy, "cache")
                    case.prepare(Callers(this), lock)
                    val before = "$lock"
                    val e = assertThrows<IllegalStateException> { wanted.lock(lock, case.by) }
                    assertContains(e.message, "cache", case.by, case.other)
                    assertFalse(wanted.tryLock(lock, case.by))
                    assertEquals(before, "$lock")
                }
            }
        }
    }

    @Test
    fun lockRead_againBehindAWaitingWriterButReadersGoFirst_readsAgain() = runTest {
        val lock = lock(ReadWritePolicy.READER_FIRST)
        lock.lockRead("t1")
        Callers(this).call { lock.lockWrite("t2") }
        lock.lockRead("t1")
        assertTrue(lock.tryLockRead("t1"))
        assertState(lock, readers = 3, waiting = 1)
        assertThrows<IllegalStateException> { lock.lockUpgradable("t1") }
    }

    @Test
    fun lockUpgradable_byAPlainReaderAtOnce_readsInBothWays() = runTest {
        val lock = lock(name = "cache")
        lock.lockRead("t1")
        lock.lockUpgradable("t1")
        assertEquals(listOf("t1"), lock.readHolders)
        for (attempt in listOf<suspend () -> Any>({ lock.upgrade("t1") }, { lock.tryUpgrade("t1") })) {
            assertContains(assertThrows<IllegalStateException> { attempt() }.message, "cache", "t1")
            assertState(lock, readers = 2)
        }
        lock.unlockRead("t1")
        assertTrue(lock.tryUpgrade("t1"))
        lock.unlockWrite("t1")
        assertFree(lock)
    }

    @Test
    fun readHolders_crowdLetInButNotRunYet_areThere() = runTest {
        val lock = lock()
        lock.lockWrite()
        for (owner in listOf("t1", "t2", null)) Callers(this).call { lock.lockRead(owner) }
        assertHolders(lock)
        lock.unlockWrite()
        assertHolders(lock, "t1", "t2")
        assertState(lock, readers = 3)
        assertThrows<IllegalStateException> { lock.lockWrite("t1") }
        runCurrent()
        lock.unlockRead()
        assertThrows<IllegalStateException> { lock.unlockRead() }
        lock.unlockRead("t1")
        lock.unlockRead("t2")
        assertThrows<IllegalStateException> { lock.unlockRead("t2") }
        assertFree(lock)
    }

    @Test
    fun lockRead_twoWaitersWithTheSameOwner_bothComeIn() = runTest {
        val lock = lock()
        lock.lockWrite()
        val callers = List(3) { Callers(this).call { lock.lockRead("t1") } }
        callers[0].cancel()
        lock.unlockWrite()
        callers[2].cancel()
        runCurrent()
        assertTrue(callers[1].isServed)
        assertState(lock, readers = 1)
        assertHolders(lock, "t1")
        lock.unlockRead("t1")
        assertFree(lock)
    }

    @Test
    fun lock_ownerWaitsInSeveralWays_isServedInAll() = runTest {
        val lock = lock()
        lock.lockWrite()
        val callers = Access.entries.associateWith { Callers(this).call { it.lock(lock, "t1") } }
        assertState(lock, written = true, waiting = 3)
        lock.unlockWrite()
        runCurrent()
        assertTrue(callers.getValue(Access.READ).isServed && callers.getValue(Access.WRITE).isWaiting)
        lock.unlockRead("t1")
        runCurrent()
        lock.unlockWrite("t1")
        runCurrent()
        assertTrue(callers.getValue(Access.UPGRADABLE).isServed)
        lock.unlockUpgradable("t1")
        assertFree(lock)
    }

    @Test
    fun unlockRead_ownersBesideAnonymousReaders_eachLeavesForItself() = runTest {
        val lock = lock()
        lock.lockRead()
        lock.lockRead("t1")
        lock.unlockRead()
        assertThrows<IllegalStateException> { lock.unlockRead() }
        assertThrows<IllegalStateException> { lock.unlockRead("t2") }
        assertState(lock, readers = 1)
        lock.lockRead()
        lock.unlockRead("t1")
        assertThrows<IllegalStateException> { lock.unlockRead("t1") }
        assertState(lock, readers = 1)
        lock.unlockRead()
        assertFree(lock)
    }

    @Test
    fun owner_keptByUpgradeAndDowngrade() = runTest {
        val lock = lock()
        lock.lockUpgradable("t1")
        lock.lockRead("t2")
        Callers(this).call { lock.upgrade("t1") }
        assertHolders(lock, "t1", "t2")
        lock.unlockRead("t2")
        assertHolders(lock, writer = "t1")
        assertThrows<IllegalStateException> { lock.tryLockRead("t1") }
        lock.downgrade("t1")
        assertHolders(lock, "t1")
        assertThrows<IllegalStateException> { lock.unlockRead() }
        lock.unlockRead("t1")
        assertFree(lock)
    }

    @Test
    fun owner_equalButNotTheSame_isAnother() = runTest {
        val mine = Owner(1)
        val equal = Owner(1)
        val lock = lock()
        lock.lockRead(mine)
        assertThrows<IllegalStateException> { lock.unlockRead(equal) }
        lock.lockRead(equal)
        assertEquals(2, lock.readHolders.size)
        lock.unlockRead(mine)
        assertSame(equal, lock.readHolders.single())
        lock.unlockRead(equal)
        lock.lockWrite(mine)
        assertFalse(lock.tryLockWrite(equal))
        assertThrows<IllegalStateException> { lock.unlockWrite(equal) }
        assertSame(mine, lock.writeHolder)
        lock.unlockWrite(mine)
        assertFree(lock)
    }

    @Test
    fun owner_whoseEqualsAndToStringThrow_doesNoHarm() = runTest {
        val owner = Hostile()
        val lock = lock(name = "cache")
        lock.lockUpgradable(owner)
        lock.lockRead(owner)
        assertContains(lock.toString(), "cache", "Hostile")
        val wrong = assertThrows<IllegalStateException> { lock.unlockRead(Hostile()) }
        assertContains(wrong.message, "cache", "Hostile")
        lock.unlockRead(owner)
        lock.upgrade(owner)
        val again = assertThrows<IllegalStateException> { lock.lockWrite(owner) }
        assertContains(again.message, "cache", "Hostile")
        lock.unlockWrite(owner)
        assertFree(lock)
    }

    @Test
    fun toString_manyOwners_staysShort() = runTest {
        val lock = lock()
        repeat(1_000) { lock.lockRead("owner $it") }
        assertContains(lock.toString(), "readers = 1000")
        assertTrue(lock.toString().length < 200) { lock.toString() }
    }

    private fun assertHolders(lock: ReadWriteLockFace, vararg readers: String, writer: String? = null) {
        assertEquals(readers.toList(), lock.readHolders.map { "$it" }.sorted())
        assertEquals(writer, lock.writeHolder)
    }

    private data class Owner(val id: Int)

    private class Hostile {
        override fun equals(other: Any?): Boolean = throw UnsupportedOperationException("equals")

        override fun hashCode(): Int = throw UnsupportedOperationException("hashCode")

        override fun toString(): String = throw UnsupportedOperationException("toString")
    }
}
