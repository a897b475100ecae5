package baton.monitoring

import baton.sync.Mutex
import baton.sync.withLock
import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Test

internal class MonitorDeadlockTest : KnownLocks() {
    private val a = Mutex(name = "a")
    private val b = Mutex(name = "b")
    private val seen = ArrayList<String>()

    private fun TestScope.monitor(after: Duration) =
        Monitor(backgroundScope, rules = AlertRules(after = after)) {
            assertNull(it.usage)
            seen += "$currentTime ${it.kind} ${if (it.raised) "raised" else "cleared"} ${it.value}"
        }

    private fun TestScope.inOrder(name: String, first: Mutex, second: Mutex) =
        launch(CoroutineName(name)) {
            first.withLock {
                yield()
                second.withLock {}
            }
        }

    private fun runWith(after: Duration) = runTest {
        val monitor = monitor(after)
        val left = inOrder("left", a, b)
        inOrder("right", b, a)
        testScheduler.advanceTimeBy(10.seconds)
        val active = monitor.active.single()
        assertEquals(Alert.Kind.DEADLOCK, active.kind)
        assertEquals(setOf("Mutex 'a'", "Mutex 'b'"), active.source.split(", ").toSet())
        left.cancel()
        testScheduler.advanceTimeBy(1.seconds)
        runCurrent()
        assertEquals(emptyList<Alert>(), monitor.active)
        monitor.close()
    }

    @Test
    fun deadlock_raisesAnAlertAfterItsTime_andClearsItAtOnce() {
        runWith(after = 3.seconds)
        assertEquals(listOf("3500 DEADLOCK raised 1.0", "10000 DEADLOCK cleared 0.0"), seen)
    }

    @Test
    fun deadlock_raisesNoAlertBeforeASecond() {
        runWith(after = Duration.ZERO)
        assertEquals(listOf("1500 DEADLOCK raised 1.0", "10000 DEADLOCK cleared 0.0"), seen)
    }

    @Test
    fun close_whileADeadlockStands_leavesNoActiveAlert() = runTest {
        val monitor = monitor(Duration.ZERO)
        val jobs = listOf(inOrder("left", a, b), inOrder("right", b, a))
        testScheduler.advanceTimeBy(10.seconds)
        assertEquals(1, monitor.active.size)
        monitor.close()
        assertEquals(emptyList<Alert>(), monitor.active)
        jobs.forEach { it.cancel() }
    }
}
