package baton.memory

import baton.monitoring.AlertRules
import baton.monitoring.Monitor
import baton.monitoring.Usage
import baton.parallel.MemoryGate
import baton.resilience.CircuitBreaker
import baton.sync.Mutex
import baton.sync.Semaphore
import java.lang.ref.WeakReference
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.delay
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

class MonitorMemoryTest {
    private val rules = AlertRules(after = Duration.ZERO)

    private fun watched(monitor: Monitor): List<WeakReference<*>> {
        val semaphore = Semaphore(1, acquired = 1)
        park { semaphore.acquire() }
        val sources = listOf(semaphore, Mutex(locked = true), CircuitBreaker().also { it.trip() }, MemoryGate())
        sources.forEach { monitor.watch(it) }
        return sources.map { WeakReference(it) }
    }

    @Test
    fun watchedObjects_areNotKept() {
        runTest {
            val monitor = Monitor(backgroundScope, rules = rules)
            monitor.watch("pool") { Usage(10, 10) }
            val references = watched(monitor)
            delay(1.milliseconds)
            assertEquals(5, monitor.snapshot().size)
            assertEquals(4, monitor.active.size)
            assertCollected(references)
            assertEquals(setOf("pool"), monitor.snapshot().keys)
            delay(1.milliseconds)
            assertEquals(listOf("pool"), monitor.active.map { it.source })
        }
    }

    @Test
    fun handlesOfWatches_keepNoSource() {
        runTest {
            val monitor = Monitor(backgroundScope, rules = rules)
            val handles = ArrayList<AutoCloseable>()
            fun watch(): WeakReference<*> {
                val semaphore = Semaphore(1, acquired = 1)
                handles += monitor.watch(semaphore)
                return WeakReference(semaphore)
            }
            val reference = watch()
            delay(1.milliseconds)
            val alerts = monitor.active
            val usage = monitor.snapshot()
            assertCollected(listOf(reference))
            assertEquals(listOf(1, 1, 1), listOf(alerts.size, usage.size, handles.size))
        }
    }

    @Test
    fun manyWatches_leaveNothing() {
        runTest {
            val monitor = Monitor(backgroundScope, rules = rules)
            assertLeavesNothing(50_000) { count -> repeat(count) { monitor.watch(Semaphore(1)).close() } }
            assertEquals(emptyMap<String, Usage>(), monitor.snapshot())
        }
    }
}
