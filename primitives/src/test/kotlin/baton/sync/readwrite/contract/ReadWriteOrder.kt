package baton.sync.readwrite.contract

import baton.sync.ReadWriteLock
import baton.sync.ReadWritePolicy
import baton.sync.assertContains
import baton.sync.assertState
import baton.sync.countdown.assertState
import baton.sync.readwrite.assertFree
import baton.waiting.Callers
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Many readers or one writer, and the order of admission under each policy. */
interface ReadWriteOrder : ReadWriteFixture {
    @Test
    fun create_isFree() {
        for (policy in ReadWritePolicy.entries) assertFree(lock(policy))
    }

    @Test
    fun lock_free_doesNotSuspend() =
        runTest {
            for (access in Access.entries) {
                val lock = lock()
                repeat(2) {
                    assertTrue(Callers(this).callAtOnce { access.lock(lock) }.isServed)
                    assertState(lock, access.readers, written = access == Access.WRITE)
                    access.unlock(lock)
                }
                assertFree(lock)
            }
        }

    @Test
    fun lockRead_othersRead_readTogether() =
        runTest {
            for (policy in ReadWritePolicy.entries) {
                val lock = lock(policy)
                repeat(3) { assertTrue(Callers(this).callAtOnce { lock.lockRead() }.isServed) }
                assertTrue(lock.tryLockRead() && lock.tryLockUpgradable())
                assertState(lock, readers = 5)
                assertFalse(lock.tryLockWrite() || lock.tryLockUpgradable())
                repeat(4) { lock.unlockRead() }
                assertState(lock, readers = 1)
                lock.unlockUpgradable()
                assertFree(lock)
            }
        }

    @Test
    fun lockWrite_held_excludesEverybody() =
        runTest {
            for (policy in ReadWritePolicy.entries) {
                val lock = lock(policy)
                lock.lockWrite()
                repeat(2) { for (access in Access.entries) assertFalse(access.tryLock(lock)) }
                for (access in Access.entries) assertTrue(Callers(this).call { access.lock(lock) }.isWaiting)
                assertState(lock, written = true, waiting = 3)
            }
        }

    @Test
    fun lockWrite_severalWait_areLetInOneByOneInTheOrderTheyCame() =
        runTest {
            for (policy in ReadWritePolicy.entries) {
                val callers = Callers(this)
                val lock = lock(policy)
                lock.lockWrite()
                for (name in listOf("a", "b", "c")) callers.call(name) { lock.lockWrite() }
                for (let in 1..3) {
                    lock.unlockWrite()
                    runCurrent()
                    assertEquals(listOf("a", "b", "c").take(let), callers.served)
                    assertState(lock, written = true, waiting = 3 - let)
                }
                lock.unlockWrite()
                assertFree(lock)
            }
        }

    @Test
    fun lockWrite_severalRead_comesInWhenTheLastHasLeft() =
        runTest {
            for (policy in ReadWritePolicy.entries) {
                val lock = lock(policy)
                repeat(3) { lock.lockRead() }
                val writer = Callers(this).call { lock.lockWrite() }
                repeat(2) {
                    lock.unlockRead()
                    runCurrent()
                    assertTrue(writer.isWaiting)
                }
                lock.unlockRead()
                assertState(lock, written = true)
                runCurrent()
                assertTrue(writer.isServed)
            }
        }

    @Test
    fun lockRead_behindAWaitingWriter_waitsUnlessReadersGoFirst() =
        runTest {
            for (policy in ReadWritePolicy.entries) {
                val lock = lock(policy)
                lock.lockRead()
                Callers(this).call { lock.lockWrite() }
                val getsIn = policy == ReadWritePolicy.READER_FIRST
                assertEquals(getsIn, lock.tryLockRead())
                assertEquals(getsIn, Callers(this).callAtOnce { lock.lockRead() }.isServed)
                assertFalse(lock.tryLockUpgradable())
                assertState(lock, readers = if (getsIn) 3 else 1, waiting = if (getsIn) 1 else 2)
            }
        }

    /** parking_lot #101. */
    @Test
    fun lockRead_behindAWaitingUpgradableOne_doesNotWait() =
        runTest {
            for (policy in ReadWritePolicy.entries) {
                val lock = lock(policy)
                lock.lockUpgradable()
                val second = Callers(this).call { lock.lockUpgradable() }
                assertTrue(lock.tryLockRead())
                assertTrue(Callers(this).callAtOnce { lock.lockRead() }.isServed)
                assertState(lock, readers = 3, waiting = 1)
                lock.unlockUpgradable()
                runCurrent()
                assertTrue(second.isServed)
                assertState(lock, readers = 3)
            }
        }

    @Test
    fun phaseFair_readersAndWritersWait_takeTurns() =
        runTest {
            val callers = Callers(this)
            val lock = queue(callers, ReadWritePolicy.PHASE_FAIR)
            lock.unlockWrite()
            assertServed(callers, "r1", "r2", "r3")
            assertState(lock, readers = 3, waiting = 3)
            callers.call("r4") { lock.lockRead() }
            repeat(3) { lock.unlockRead() }
            assertServed(callers, "w1")
            lock.unlockWrite()
            assertServed(callers, "r4", "u1")
            assertState(lock, readers = 2, waiting = 1)
            lock.unlockUpgradable()
            lock.unlockRead()
            assertServed(callers, "w2")
            lock.unlockWrite()
            assertFree(lock)
        }

    @Test
    fun writerFirst_readersAndWritersWait_readersComeAfterAllWriters() =
        runTest {
            val callers = Callers(this)
            val lock = queue(callers, ReadWritePolicy.WRITER_FIRST)
            lock.unlockWrite()
            assertServed(callers, "w1")
            callers.call("r4") { lock.lockRead() }
            lock.unlockWrite()
            assertServed(callers, "u1")
            assertState(lock, readers = 1, waiting = 5)
            lock.unlockUpgradable()
            assertServed(callers, "w2")
            lock.unlockWrite()
            assertServed(callers, "r1", "r2", "r3", "r4")
            repeat(4) { lock.unlockRead() }
            assertFree(lock)
        }

    @Test
    fun readerFirst_readersAndWritersWait_writersComeAfterAllReaders() =
        runTest {
            val callers = Callers(this)
            val lock = queue(callers, ReadWritePolicy.READER_FIRST)
            lock.unlockWrite()
            assertServed(callers, "r1", "r2", "r3")
            callers.call("r4") { lock.lockRead() }
            repeat(3) { lock.unlockRead() }
            assertServed(callers, "r4")
            lock.unlockRead()
            assertServed(callers, "w1")
            lock.unlockWrite()
            assertServed(callers, "u1")
            lock.unlockUpgradable()
            assertServed(callers, "w2")
            lock.unlockWrite()
            assertFree(lock)
        }

    /** A writer holds the lock; r1, w1, r2, u1 (upgradable), w2 and r3 have come, in this order. */
    private suspend fun queue(callers: Callers, policy: ReadWritePolicy): ReadWriteLockFace {
        val lock = lock(policy)
        lock.lockWrite()
        callers.call("r1") { lock.lockRead() }
        callers.call("w1") { lock.lockWrite() }
        callers.call("r2") { lock.lockRead() }
        callers.call("u1") { lock.lockUpgradable() }
        callers.call("w2") { lock.lockWrite() }
        callers.call("r3") { lock.lockRead() }
        assertState(lock, written = true, waiting = 6)
        return lock
    }

    /** Asserts that the next admitted callers are [names], in this order. */
    private fun TestScope.assertServed(callers: Callers, vararg names: String) {
        runCurrent()
        assertEquals(names.toList(), callers.served.takeLast(names.size))
        assertEquals(callers.served.distinct(), callers.served)
    }

    @Test
    fun phaseFair_writersNeverCease_readerWaitsForOneOnly() =
        runTest {
            val lock = lock()
            lock.lockWrite()
            repeat(20) {
                Callers(this).call { lock.lockWrite() }
                val reader = Callers(this).call { lock.lockRead() }
                lock.unlockWrite()
                runCurrent()
                assertTrue(reader.isServed)
                lock.unlockRead()
                runCurrent()
                assertState(lock, written = true)
            }
        }

    @Test
    fun phaseFair_readersNeverCease_writerWaitsForThoseBeforeItOnly() =
        runTest {
            val lock = lock()
            lock.lockRead()
            repeat(20) {
                val writer = Callers(this).call { lock.lockWrite() }
                Callers(this).call { lock.lockRead() }
                lock.unlockRead()
                runCurrent()
                assertTrue(writer.isServed)
                lock.unlockWrite()
                runCurrent()
                assertState(lock, readers = 1)
            }
        }

    @Test
    fun lockUpgradable_amongWriters_isServedInItsTurn() =
        runTest {
            for (policy in ReadWritePolicy.entries) {
                val callers = Callers(this)
                val lock = lock(policy)
                lock.lockRead()
                callers.call("w") { lock.lockWrite() }
                callers.call("u") { lock.lockUpgradable() }
                callers.call("u2") { lock.lockUpgradable() }
                lock.unlockRead()
                runCurrent()
                assertEquals(listOf("w"), callers.served)
                lock.unlockWrite()
                runCurrent()
                assertEquals(listOf("w", "u"), callers.served)
                lock.unlockUpgradable()
                runCurrent()
                assertEquals(listOf("w", "u", "u2"), callers.served)
                assertState(lock, readers = 1)
            }
        }

    /** JDK-8023234. */
    @Test
    fun unlockWrite_manyReadersWait_runAllTogether() =
        runTest {
            for (policy in ReadWritePolicy.entries) {
                val callers = Callers(this)
                val lock = lock(policy)
                val allAreIn = CompletableDeferred<Unit>()
                var inside = 0
                lock.lockWrite()
                repeat(20) {
                    callers.call {
                        lock.lockRead()
                        if (++inside == 20) allAreIn.complete(Unit)
                        allAreIn.await()
                        lock.unlockRead()
                    }
                }
                lock.unlockWrite()
                assertState(lock, readers = 20)
                runCurrent()
                assertEquals(20, callers.served.size)
                assertFree(lock)
            }
        }

    @Test
    fun tryLock_waitersNotRunYet_lockIsAlreadyTheirs() =
        runTest {
            val lock = lock()
            lock.lockWrite()
            val reader = Callers(this).call { lock.lockRead() }
            val writer = Callers(this).call { lock.lockWrite() }
            lock.unlockWrite()
            assertState(lock, readers = 1, waiting = 1)
            assertFalse(lock.tryLockWrite() || lock.tryLockRead())
            lock.unlockRead()
            assertState(lock, written = true)
            assertFalse(reader.isServed || writer.isServed || lock.tryLockRead())
            runCurrent()
            assertTrue(reader.isServed && writer.isServed)
        }

    @Test
    fun lockWrite_byTheLeaverAgain_goesToTheEndOfTheQueue() =
        runTest {
            for (policy in ReadWritePolicy.entries) {
                val callers = Callers(this)
                val lock = lock(policy)
                lock.lockWrite()
                callers.call("a") { lock.lockWrite() }
                lock.unlockWrite()
                callers.callAtOnce("again") { lock.lockWrite() }
                lock.unlockWrite()
                runCurrent()
                assertEquals(listOf("a", "again"), callers.served)
            }
        }

    @Test
    fun lock_queueRunsEmpty_newcomersDoNotWaitAgain() =
        runTest {
            for (policy in ReadWritePolicy.entries) {
                val lock = lock(policy)
                lock.lockWrite()
                repeat(3) {
                    Callers(this).call { lock.lockRead() }
                    Callers(this).call { lock.lockWrite() }
                }
                while (lock.isWriteLocked || lock.readers > 0) {
                    if (lock.isWriteLocked) lock.unlockWrite() else lock.unlockRead()
                    runCurrent()
                }
                assertFree(lock)
            }
        }

    @Test
    fun unlock_byAnotherCoroutineThanLock_isAllowed() =
        runTest {
            val lock = lock()
            for (access in Access.entries) {
                Callers(this).call { access.lock(lock) }
                Callers(this).call { access.unlock(lock) }
                assertFree(lock)
            }
        }

    @Test
    fun toString_inEveryState_showsIt() =
        runTest {
            val lock = lock(name = "cache")
            assertContains(lock.toString(), "ReadWriteLock", "cache", "free", "waiting = 0")
            lock.lockRead()
            lock.lockRead("t1")
            lock.lockUpgradable("t2")
            assertContains(lock.toString(), "cache", "readers = 3", "t1", "t2", "waiting = 0")
            lock.unlockRead("t1")
            lock.unlockRead()
            lock.upgrade("t2")
            Callers(this).call { lock.lockRead() }
            assertContains(lock.toString(), "cache", "written", "t2", "waiting = 1")
            lock.unlockWrite("t2")
            runCurrent()
            lock.unlockRead()
            lock.lockWrite()
            assertContains(lock.toString(), "cache", "written", "waiting = 0")
            assertContains(lock().toString(), "ReadWriteLock")
        }
}
