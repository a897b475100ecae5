package baton.monitoring

import baton.sync.Mutex
import baton.sync.ReadWriteLock
import baton.sync.Semaphore
import baton.sync.withLock
import baton.sync.withPermit
import baton.sync.withRead
import baton.sync.withWrite
import baton.waiting.holders.DeadlockDetection
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Test

/** Without the property, as by default. */
class DeadlocksOffTest {
    @Test
    fun withoutTheProperty_nothingIsNoted_andNothingFound() = runTest {
        val mutex = Mutex()
        val semaphore = Semaphore(1)
        val lock = ReadWriteLock()
        repeat(3) {
            launch {
                mutex.withLock { semaphore.withPermit { lock.withWrite { yield() } } }
                lock.withRead { yield() }
            }
        }
        yield()
        assertEquals(2, mutex.waiting)
        assertFalse(Deadlocks.isEnabled)
        assertEquals(emptyList<Deadlock>(), Deadlocks.find())
        val seen = ArrayList<Any>()
        fun log(deadlock: Any) = seen.add(deadlock)
        for (deadlock in Deadlocks.find()) log(deadlock)
        assertEquals(emptyList<Any>(), seen)
        assertEquals(0, DeadlockDetection.looks().size)
        for (core in listOf(mutex.core, semaphore.core, lock.core)) {
            assertNull(core.watch)
            assertNull(core.knownHolders)
        }
    }
}
