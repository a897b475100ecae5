package baton.sync.readwrite.contract

import baton.sync.ReadWritePolicy.PHASE_FAIR
import baton.sync.ReadWritePolicy.READER_FIRST
import baton.sync.ReadWritePolicy.WRITER_FIRST
import baton.sync.assertContains
import baton.waiting.Callers
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Many readers or one writer, and the order of admission under each policy. */
interface ReadWriteOrder : ReadWriteFixture {
    @Test
    fun lock_free_doesNotSuspendAndMayBeUnlockedByAnotherCoroutine() = eachPolicy {
        for (access in Access.entries) {
            repeat(2) {
                assertTrue(callers.callAtOnce { access.lock(lock) }.isServed)
                assertState(access.readers, written = access == Access.WRITE)
                callers.call { access.unlock(lock) }
            }
            assertFree(lock)
        }
    }

    @Test
    fun lockRead_othersRead_readTogether() = eachPolicy {
        come("r1", "r2", "r3")
        assertTrue(lock.tryLockRead() && lock.tryLockUpgradable())
        assertFalse(lock.tryLockWrite() || lock.tryLockUpgradable())
        assert("r1 r2 r3", readers = 5)
        leave("r1", "r2", "r3")
        lock.unlockRead()
        assertState(readers = 1)
        lock.unlockUpgradable()
        assertFree(lock)
    }

    @Test
    fun lockWrite_held_excludesAllOthers() = eachPolicy {
        come("w0")
        repeat(2) { for (access in Access.entries) assertFalse(access.tryLock(lock)) }
        come("r1", "w1", "u1")
        assert("w0", written = true, waiting = 3)
    }

    @Test
    fun lockWrite_severalRead_comesInWhenTheLastHasLeft() = eachPolicy {
        come("r1", "r2", "r3", "w1")
        leave("r1", "r2")
        assert("r1 r2 r3", readers = 1, waiting = 1)
        leave("r3")
        assertState(written = true)
        assert("r1 r2 r3 w1", written = true)
    }

    @Test
    fun lockRead_behindAWaitingWriter_waitsUnlessReadersGoFirst() = eachPolicy { policy ->
        come("r1", "w1")
        val getsIn = policy == READER_FIRST
        assertEquals(getsIn, lock.tryLockRead())
        assertEquals(getsIn, callers.callAtOnce { lock.lockRead() }.isServed)
        assertFalse(lock.tryLockUpgradable())
        assertState(readers = if (getsIn) 3 else 1, waiting = if (getsIn) 1 else 2)
    }

    /** parking_lot #101. */
    @Test
    fun lockRead_behindAWaitingUpgradableOne_doesNotWait() = eachPolicy {
        come("u1", "u2")
        assertTrue(lock.tryLockRead())
        come("r1")
        assert("u1 r1", readers = 3, waiting = 1)
        leave("u1")
        assert("u1 r1 u2", readers = 3)
    }

    /** A writer holds the lock; r1, w1, r2, u1, w2 and r3 have come, in this order. */
    private fun ReadWriteScene.fill() {
        come("w0", "r1", "w1", "r2", "u1", "w2", "r3")
        assert("w0", written = true, waiting = 6)
        leave("w0")
    }

    @Test
    fun phaseFair_readersAndWritersWait_takeTurns() =
        scene(PHASE_FAIR) {
            fill()
            assert("w0 r1 r2 r3", readers = 3, waiting = 3)
            come("r4")
            leave("r1", "r2", "r3")
            assert("w0 r1 r2 r3 w1", written = true, waiting = 3)
            leave("w1")
            assert("w0 r1 r2 r3 w1 r4 u1", readers = 2, waiting = 1)
            leave("u1", "r4")
            assert("w0 r1 r2 r3 w1 r4 u1 w2", written = true)
        }

    @Test
    fun writerFirst_readersAndWritersWait_readersComeAfterAllWriters() =
        scene(WRITER_FIRST) {
            fill()
            assert("w0 w1", written = true, waiting = 5)
            come("r4")
            leave("w1")
            assert("w0 w1 u1", readers = 1, waiting = 5)
            leave("u1")
            assert("w0 w1 u1 w2", written = true, waiting = 4)
            leave("w2")
            assert("w0 w1 u1 w2 r1 r2 r3 r4", readers = 4)
        }

    @Test
    fun readerFirst_readersAndWritersWait_writersComeAfterAllReaders() =
        scene(READER_FIRST) {
            fill()
            assert("w0 r1 r2 r3", readers = 3, waiting = 3)
            come("r4")
            leave("r1", "r2", "r3")
            assert("w0 r1 r2 r3 r4", readers = 1, waiting = 3)
            leave("r4")
            assert("w0 r1 r2 r3 r4 w1", written = true, waiting = 2)
            leave("w1")
            assert("w0 r1 r2 r3 r4 w1 u1", readers = 1, waiting = 1)
            leave("u1")
            assert("w0 r1 r2 r3 r4 w1 u1 w2", written = true)
        }

    @Test
    fun phaseFair_readersAndWritersNeverCease_eachWaitsForOneTurnOfTheOthersOnly() = runTest {
        val lock = lock()
        lock.lockWrite()
        repeat(20) {
            Callers(this).call { lock.lockWrite() }
            val reader = Callers(this).call { lock.lockRead() }
            lock.unlockWrite()
            runCurrent()
            assertTrue(reader.isServed)
            Callers(this).call { lock.lockRead() }
            lock.unlockRead()
            runCurrent()
            assertState(lock, written = true, waiting = 1)
            lock.unlockWrite()
            runCurrent()
            assertState(lock, readers = 1)
            val writer = Callers(this).call { lock.lockWrite() }
            lock.unlockRead()
            runCurrent()
            assertTrue(writer.isServed)
        }
    }

    @Test
    fun lockUpgradable_amongWriters_isServedInItsTurn() = eachPolicy {
        come("r1", "w1", "u1", "u2")
        leave("r1")
        assert("r1 w1", written = true, waiting = 2)
        leave("w1")
        assert("r1 w1 u1", readers = 1, waiting = 1)
        leave("u1")
        assert("r1 w1 u1 u2", readers = 1)
    }

    /** JDK-8023234. */
    @Test
    fun unlockWrite_manyReadersWait_runAllTogether() = eachPolicy {
        val allAreIn = CompletableDeferred<Unit>()
        var inside = 0
        come("w0")
        repeat(20) {
            callers.call("r") {
                lock.lockRead()
                if (++inside == 20) allAreIn.complete(Unit)
                allAreIn.await()
                lock.unlockRead()
            }
        }
        leave("w0")
        assertState(readers = 20)
        scope.runCurrent()
        assertEquals(21, callers.served.size)
        assertFree(lock)
    }

    @Test
    fun tryLock_waitersNotRunYet_lockIsAlreadyTheirs() =
        scene(PHASE_FAIR) {
            come("w0", "r1", "w1")
            leave("w0")
            assertState(readers = 1, waiting = 1)
            assertFalse(lock.tryLockWrite() || lock.tryLockRead())
            leave("r1")
            assertState(written = true)
            assertFalse(lock.tryLockRead())
            assert("w0 r1 w1", written = true)
        }

    @Test
    fun lockWrite_byTheLeaverAgain_goesToTheEndOfTheQueue() = eachPolicy {
        come("w0", "w1")
        leave("w0")
        callers.callAtOnce("again") { lock.lockWrite() }
        leave("w1")
        assert("w0 w1 again", written = true)
    }

    @Test
    fun toString_inEveryState_showsIt() = runTest {
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
