package baton.monitoring

import baton.sync.Mutexes
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

@OptIn(ExperimentalCoroutinesApi::class)
internal class KeysDeadlockTest : KnownLocks() {
    private val locks = Mutexes<Int>(name = "accounts")

    @Test
    fun nestedLocksOfTwoKeys_areReportedByTheKeys() = runTest {
        val jobs =
            listOf("left" to (1 to 2), "right" to (2 to 1)).map { (name, order) ->
                launch(CoroutineName(name)) {
                    locks.withLock(order.first) {
                        yield()
                        locks.withLock(order.second) {}
                    }
                }
            }
        runCurrent()
        assertEquals(
            setOf(
                "coroutine 'left' > Mutex 'accounts[2]' > coroutine 'right'",
                "coroutine 'right' > Mutex 'accounts[1]' > coroutine 'left'",
            ),
            textOf(standing().single()),
        )
        jobs.first().cancel()
        runCurrent()
        assertEquals(emptyList<Deadlock>(), search.find())
        assertEquals(0, locks.size)
    }

    @Test
    fun nestedLockOfTheSameKey_isReported() = runTest {
        val job = launch(CoroutineName("self")) { locks.withLock(7) { locks.withLock(7) {} } }
        runCurrent()
        assertEquals(setOf("coroutine 'self' > Mutex 'accounts[7]' > coroutine 'self'"), textOf(standing().single()))
        job.cancel()
    }
}
