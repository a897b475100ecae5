package baton.monitoring

import baton.sync.Mutex
import baton.sync.ReadWriteLock
import baton.sync.withLock
import baton.sync.withRead
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** The holders in a dump, where they are noted. */
internal class WaitsDeadlockTest : KnownLocks() {
    @Test
    fun dump_ofALock_namesItsHolder_andTheCallThatTookIt() = runTest {
        val mutex = Mutex(name = "dumped account")
        val holder = launch(CoroutineName("long transfer")) { mutex.withLock { awaitCancellation() } }
        runCurrent()
        backgroundScope.launch(CoroutineName("short transfer")) { mutex.withLock {} }
        runCurrent()
        val text = Waits.dump().split("\n\n").single { it.startsWith("Mutex 'dumped account'") }
        assertTrue("\n  lock by short transfer for " in text) { text }
        assertTrue("      kotlinx.coroutines." !in text && "      kotlin.coroutines." !in text) { text }
        val held = Regex("\n  held by coroutine 'long transfer' for [0-9.]+m?s, taken at\n")
        assertTrue(held.containsMatchIn(text)) { text }
        val json = Waits.dumpJson()
        assertTrue(Regex(""""holders":\["coroutine 'long transfer', taken at""").containsMatchIn(json)) { json }
        val hold = Regex(""""holds":\[\{"caller":"coroutine 'long transfer'","millis":[0-9]+}]""")
        assertTrue(hold.containsMatchIn(json)) { json }
        holder.cancel()
    }

    @Test
    fun dump_ofALockWithManyReaders_saysHowMany_andNamesAHundred() = runTest {
        val lock = ReadWriteLock(name = "read by many")
        repeat(103) { backgroundScope.launch(CoroutineName("reader $it")) { lock.withRead { awaitCancellation() } } }
        runCurrent()
        val lines = linesAbout("ReadWriteLock 'read by many'")
        assertEquals("ReadWriteLock 'read by many': 1 of 1 in use by 103 holders, 0 waiting", lines.first())
        assertEquals(100, lines.count { it.startsWith("  held by coroutine 'reader ") })
        assertEquals("  and 3 more hold it", lines.last())
    }

    private fun linesAbout(label: String): List<String> =
        Waits.dump().split("\n\n").single { it.startsWith("$label: ") }.trim().lines()
}
