package baton.memory

import baton.sync.ReadWriteLock
import baton.waiting.Enough
import java.lang.ref.WeakReference
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.GlobalScope
import kotlinx.coroutines.Job
import kotlinx.coroutines.launch
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class ReadWriteMemoryTest {
    private val lock = ReadWriteLock().also { it.tryLockWrite() }

    private fun parkAndCancel(count: Int, owner: () -> Any?) {
        val jobs = ArrayList<Job>(count)
        repeat(count) { i ->
            jobs += if (i % 4 == 0) park { lock.lockWrite(owner()) } else park { lock.lockRead(owner()) }
        }
        assertEquals(count, lock.waiting)
        jobs.forEach { it.cancel(Enough) }
        assertEquals(0, lock.waiting)
    }

    private fun assertNothingLeft(count: Int, owner: () -> Any?) {
        assertLeavesNothing(count) { parkAndCancel(it, owner) }
        lock.unlockWrite()
        assertTrue(lock.tryLockWrite())
    }

    @Test fun manyCancelledReadersAndWriters_leaveNoMemoryBehind() = assertNothingLeft(300_000) { null }

    @Test fun cancelledReadersAndWritersWithOwners_leaveNoMemoryBehind() = assertNothingLeft(100_000) { Any() }

    /** The first and the last stay. */
    @Test
    fun readersWithOwners_afterTheyLeave_leaveNoMemoryBehind() {
        lock.unlockWrite()
        val before = usedHeap()
        readAndLeave(100_000)
        val left = usedHeap() - before
        assertTrue(left <= 256 * 1024, "$left bytes are left")
        assertEquals(2, lock.readers)
    }

    private fun readAndLeave(count: Int) {
        val owners = List(count) { Any() }
        for (owner in owners) check(lock.tryLockRead(owner))
        for (owner in owners.drop(1).dropLast(1)) lock.unlockRead(owner)
    }

    @Test
    fun idleLock_retainsNoUserObject() {
        lock.unlockWrite()
        val seen = used()
        assertCollected(seen)
        assertEquals("ReadWriteLock (free, waiting = 0)", "$lock")
    }

    /** Held by owners, waited for, handed over, upgraded, and cancelled. No local keeps anything. */
    private fun used(): List<WeakReference<Any>> {
        val first = Any()
        val second = Any()
        val third = Any()
        check(lock.tryLockWrite(first))
        val handed =
            GlobalScope.launch(Dispatchers.Unconfined) {
                lock.lockRead(second)
                lock.unlockRead(second)
                lock.lockUpgradable(third)
                lock.upgrade(third)
                lock.downgrade(third)
                lock.unlockRead(third)
            }
        val cancelled =
            listOf(
                GlobalScope.launch(Dispatchers.Unconfined) { lock.lockWrite(Any()) },
                GlobalScope.launch(Dispatchers.Unconfined) { lock.lockRead(Any()) },
            )
        cancelled.forEach { it.cancel() }
        lock.unlockWrite(first)
        check(handed.isCompleted)
        return (listOf(first, second, third, handed) + cancelled).map(::WeakReference)
    }
}
