package baton.test.assertions

import baton.monitoring.Deadlocks
import baton.sync.Mutex
import baton.sync.ReadWriteLock
import baton.sync.Semaphore
import baton.test.shouldBeIdle
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** With `-Dbaton.deadlocks=true`. */
class HoldersDeadlockTest {
    init {
        System.setProperty("baton.deadlocks", "true")
        check(Deadlocks.isEnabled) { "a lock was used before -Dbaton.deadlocks=true was set: run this test alone" }
    }

    private fun linesOf(assertion: () -> Unit) = assertThrows<AssertionError> { assertion() }.message!!.lines()

    @Test
    fun message_namesTheHolders_andWhereTheyTookIt() = runTest {
        val mutex = Mutex()
        val semaphore = Semaphore(1)
        val lock = ReadWriteLock()
        launch(CoroutineName("import")) {
                mutex.lock("transfer 7")
                semaphore.acquire()
                lock.lockWrite()
            }
            .join()
        val owner = listOf("  holders: 1, coroutine 'import' (owner transfer 7), taken at")
        assertEquals(owner, linesOf { mutex.shouldBeIdle() }.drop(1).take(1))
        val taken = linesOf { semaphore.shouldBeIdle() }
        assertEquals("  permits held: 1, coroutine 'import', taken at", taken[1])
        // The frames of the library are left out, in whose package this test is, and those of coroutines: the rest
        // called runTest.
        assertTrue(Regex(" +baton\\..*\\(HoldersDeadlockTest\\.kt:\\d+\\)").matches(taken[2]), taken[2])
        assertEquals("  holders: 1, coroutine 'import', taken at", linesOf { lock.shouldBeIdle() }[1])
    }

    @Test
    fun message_ofAHolderWithoutAName_saysWhyItIsUnknown() {
        val semaphore = Semaphore(1).also { it.tryAcquire() }
        val unknown = " (the holder is unknown: it has neither a coroutine nor an owner)"
        assertEquals("  permits held: 1$unknown", linesOf { semaphore.shouldBeIdle() }.last())
        val several = Semaphore(2).also { it.tryAcquire() }
        val notRecorded = " (holders are recorded of one permit alone: try Semaphore(1))"
        assertEquals("  permits held: 1$notRecorded", linesOf { several.shouldBeIdle() }.last())
    }
}
