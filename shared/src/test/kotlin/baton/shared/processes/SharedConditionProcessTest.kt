package baton.shared.processes

import baton.shared.SharedMutex
import baton.shared.SharedQueue
import baton.shared.SharedRegion
import baton.shared.withLock
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout

@Timeout(300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SharedConditionProcessTest : ChildProcesses() {
    private fun withRegion(test: suspend (SharedRegion) -> Unit) =
        SharedRegion.open(path).use { region -> runBlocking { withTimeout(2.minutes) { test(region) } } }

    @Test
    fun elements_passBetweenProcessesOneByOne() = withRegion { region ->
        val queue = SharedQueue(region)
        val producer = start("put", "1", "300")
        assertEquals((1L..300).toList(), List(300) { queue.take() })
        producer.expect("put")
    }

    @Test
    fun waiter_thatIsKilled_takesNoSignalWithIt() = withRegion { region ->
        val mutex = region.mutex("counter")
        val changed = mutex.condition("changed")
        repeat(3) {
            val killed = startWaiter(mutex)
            val other = startWaiter(mutex)
            mutex.withLock { changed.signal() }
            kill(killed)
            // The killed one may have held the mutex already.
            other.expectStart("signalled")
            mutex.withLock(repair = {}) {}
        }
    }

    @Test
    fun signalAll_inTheRepairAfterADeath_wakesTheWaiters() = withRegion { region ->
        val mutex = region.mutex("counter")
        val waiter = startWaiter(mutex)
        val holder = start("hold").also { it.expect("held") }
        kill(holder)
        mutex.withLock(repair = { mutex.condition("changed").signalAll() }) {}
        waiter.expect("signalled false")
    }

    /** Returns when the new process waits: it has released the mutex that it held when it spoke. */
    private suspend fun startWaiter(mutex: SharedMutex): Process =
        start("await").also {
            it.expect("locked")
            mutex.lock().close()
        }
}
