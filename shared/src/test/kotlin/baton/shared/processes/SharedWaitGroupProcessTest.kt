package baton.shared.processes

import baton.shared.AbandonedException
import baton.shared.SharedRegion
import baton.shared.SharedWaitGroup
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.supervisorScope
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

class SharedWaitGroupProcessTest : ChildProcesses() {
    private fun withGroup(test: suspend (SharedWaitGroup) -> Unit) =
        SharedRegion.open(path).use { region -> runBlocking { withTimeout(2.minutes) { test(region.waitGroup("g")) } } }

    private fun startAdder(added: Int, done: Int) = start("jobs", "$added", "$done").also { it.expect("added") }

    @Test
    fun work_ofAKilledProcess_isTakenOffAndToldOnce() = withGroup { group ->
        group.add(1)
        val adder = startAdder(added = 5, done = 2)
        assertEquals(4, group.count)
        supervisorScope {
            val waiters = List(2) { async(Dispatchers.Default) { group.await() } }
            kill(adder)
            for (waiter in waiters) assertThrows<AbandonedException> { runBlocking { waiter.await() } }
        }
        assertEquals(1, group.count)
        group.done()
        group.await()
    }

    @Test
    fun work_thatOtherProcessesHaveDone_isNoLoss() = withGroup { group ->
        val adder = startAdder(added = 5, done = 1)
        start("done", "4").expect("done")
        kill(adder)
        group.await()
        assertTrue(group.await(0.seconds))
    }

    @Test
    fun worker_thatIsKilledAfterADone_keepsItDone() = withGroup { group ->
        group.add(3)
        val worker = start("done", "1")
        worker.expect("done")
        kill(worker)
        assertEquals(2, group.count)
        repeat(2) { group.done() }
        group.await()
    }
}
