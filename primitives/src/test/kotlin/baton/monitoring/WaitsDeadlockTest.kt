package baton.monitoring

import baton.sync.Mutex
import baton.sync.withLock
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** The holders in a dump, where they are noted. */
internal class WaitsDeadlockTest : KnownLocks() {
    @Test
    fun dump_ofALock_namesItsHolder_andTheCallThatTookIt() = runTest {
        val mutex = Mutex(name = "dumped account")
        val holder =
            launch(CoroutineName("long transfer")) { mutex.withLock { kotlinx.coroutines.awaitCancellation() } }
        runCurrent()
        backgroundScope.launch(CoroutineName("short transfer")) { mutex.withLock {} }
        runCurrent()
        val text = Waits.dump().split("\n\n").single { it.startsWith("Mutex 'dumped account'") }
        assertTrue("\n  lock by short transfer for " in text) { text }
        assertTrue("      kotlinx.coroutines." !in text && "      kotlin.coroutines." !in text) { text }
        assertTrue("\n  held by coroutine 'long transfer', taken at\n" in text) { text }
        assertTrue(Regex(""""holders":\["coroutine 'long transfer', taken at""").containsMatchIn(Waits.dumpJson()))
        holder.cancel()
    }
}
