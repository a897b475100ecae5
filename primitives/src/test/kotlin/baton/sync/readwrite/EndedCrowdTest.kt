package baton.sync.readwrite

import baton.sync.ReadWriteLock
import baton.sync.ReadWritePolicy
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.GlobalScope
import kotlinx.coroutines.Job
import kotlinx.coroutines.launch
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ValueSource

/** A reader may be cancelled after its batch has been admitted, and before it is granted itself. */
class EndedCrowdTest {
    @ParameterizedTest
    @ValueSource(strings = ["", "ann"])
    fun readerCancelledBetweenTheEndOfItsCrowdAndItsTurn_leavesAtOnce(name: String) {
        val owner = name.ifEmpty { null }
        val lock = ReadWriteLock(ReadWritePolicy.WRITER_FIRST)
        check(lock.tryLockWrite())
        val readers = mutableListOf<Job>()
        val seen = mutableListOf<Int>()
        // This coroutine is woken before the batch, and runs at once.
        GlobalScope.launch(Dispatchers.Unconfined) {
            lock.lockUpgradable()
            seen += lock.readers
            readers[0].cancel()
            seen += lock.readers
        }
        repeat(2) { readers += GlobalScope.launch(Dispatchers.Unconfined) { lock.lockRead(owner) } }
        lock.unlockWrite()
        assertEquals(listOf(3, 2), seen)
        assertTrue(readers[0].isCancelled)
        assertTrue(readers[1].isCompleted && !readers[1].isCancelled)
        assertEquals(2, lock.readers)
        assertEquals(listOfNotNull(owner), lock.readHolders)
        lock.unlockRead(owner)
        lock.unlockUpgradable()
        assertFree(lock)
    }
}
