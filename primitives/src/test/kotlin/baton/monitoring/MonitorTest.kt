package baton.monitoring

import baton.monitoring.core.MonitorListener
import baton.reportingTo
import baton.sync.Mutex
import baton.sync.Semaphore
import java.util.concurrent.atomic.AtomicInteger
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineExceptionHandler
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.cancel
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.plus
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class MonitorTest : WatchedSources() {
    private val reported = mutableListOf<Throwable>()
    private val handler = CoroutineExceptionHandler { _, e -> reported += e }
    private val atOnce = AlertRules(after = Duration.ZERO)

    @Test
    fun onAlert_thatThrows_isReportedAndTheMonitorGoesOn() {
        runTest {
            val seen = mutableListOf<Boolean>()
            var inUse = 10L
            val failures = listOf(IllegalStateException("first"), CancellationException("second"), StackOverflowError())
            val monitor =
                Monitor(backgroundScope + handler, rules = atOnce) {
                    seen += it.raised
                    if (seen.size <= failures.size) throw failures[seen.size - 1]
                }
            monitor.watch("pool") { Usage(inUse, 10) }
            repeat(4) {
                delay(500.milliseconds)
                inUse = 10 - inUse
            }
            assertEquals(failures, reported.map { if (it.cause is CancellationException) it.cause else it })
            assertFalse(reported.any { it is CancellationException })
            assertEquals(listOf(true, false, true, false), seen)
            assertEquals(emptyList<Alert>(), monitor.active)
        }
    }

    @Test
    fun handler_thatThrows_doesNotEndTheMonitor() {
        runTest {
            var calls = 0
            val broken = CoroutineExceptionHandler { _, e -> throw e }
            reportingTo(reported) {
                val monitor = Monitor(backgroundScope + broken, rules = atOnce) { throw IllegalStateException("x") }
                monitor.watch("pool") { Usage(if (calls++ % 2 == 0) 10 else 0, 10) }
                delay(1600.milliseconds)
                assertEquals(4, calls)
            }
            assertEquals(4, reported.size)
        }
    }

    @Test
    fun usage_thatThrows_isReportedOnceUntilItSucceedsAgain() {
        runTest {
            val failure = IllegalStateException("pool is gone")
            var fails = true
            val monitor = Monitor(backgroundScope + handler, rules = AlertRules(after = 1.seconds))
            monitor.watch("pool") { if (fails) throw failure else Usage(10, 10) }
            monitor.watch("other") { Usage(1, 10) }
            delay(2.seconds)
            assertEquals(listOf<Throwable>(failure), reported)
            assertEquals(setOf("other"), monitor.snapshot().keys)
            reported.clear()
            fails = false
            delay(600.milliseconds)
            fails = true
            delay(1.seconds)
            assertEquals(listOf<Throwable>(failure), reported)
            assertEquals(emptyList<Alert>(), monitor.active, "a failed look is a break")
        }
    }

    @Test
    fun names_byDefault_areThoseOfTheSourcesAndUnique() {
        runTest {
            val monitor = Monitor(backgroundScope)
            val sources =
                listOf(Mutex(), Mutex(), Semaphore(2, name = "uplink"), Semaphore(3, name = "uplink"), Mutex())
            sources.forEach { monitor.watchKept(it) }
            monitor.watchKept(sources[0], name = "again")
            val names = listOf("Mutex", "Mutex 2", "uplink", "uplink 2", "Mutex 3", "again")
            assertEquals(names, monitor.snapshot().keys.toList())
            assertEquals(3, monitor.snapshot().getValue("uplink 2").capacity)
            val refused = assertThrows(IllegalArgumentException::class.java) { monitor.watch("again") { Usage(0, 0) } }
            assertEquals("name = again, is watched already by this Monitor", refused.message)
            assertEquals("Monitor (every = 500ms, watches = 6, alerts = 0)", "$monitor")
        }
    }

    @Test
    fun watch_thatIsClosed_isLeftOut() {
        runTest {
            val alerts = mutableListOf<Alert>()
            val monitor = Monitor(backgroundScope, rules = atOnce) { alerts += it }
            val watch = monitor.watch("pool") { Usage(10, 10) }
            delay(1.milliseconds)
            assertEquals(1, monitor.active.size)
            watch.close()
            watch.close()
            assertEquals(emptyList<Alert>(), monitor.active)
            assertEquals(emptyMap<String, Usage>(), monitor.snapshot())
            delay(10.seconds)
            assertEquals(1, alerts.size)
            monitor.watch("pool") { Usage(0, 10) }
            watch.close()
            assertEquals(setOf("pool"), monitor.snapshot().keys)
        }
    }

    @Test
    fun monitor_thatIsClosed_looksAndWatchesNoMore() {
        runTest {
            var looks = 0
            val monitor = Monitor(this)
            monitor.watch("pool") { Usage(0, 10).also { looks++ } }
            delay(1.milliseconds)
            monitor.close()
            monitor.close()
            delay(10.seconds)
            assertEquals(1, looks)
            assertEquals(emptyMap<String, Usage>(), monitor.snapshot())
            val refused = assertThrows(IllegalStateException::class.java) { monitor.watch(Mutex(name = "m")) }
            assertEquals("watch of m by a Monitor that is closed", refused.message)
        }
    }

    @Test
    fun scope_thatIsCancelled_closesTheMonitor() {
        runTest {
            val scope = CoroutineScope(coroutineContext + Job())
            val semaphore = Semaphore(1)
            val monitor = Monitor(scope)
            monitor.watchKept(semaphore)
            delay(1.milliseconds)
            assertTrue(semaphore.core.watch!!.isOn)
            scope.cancel()
            delay(1.milliseconds)
            assertThrows(IllegalStateException::class.java) { monitor.watchKept(semaphore) }
            assertFalse(semaphore.core.watch!!.isOn)
            assertThrows(IllegalStateException::class.java) { Monitor(scope).watchKept(semaphore) }
        }
    }

    @Test
    fun monitor_thatIsNotClosed_holdsItsScope() {
        runTest {
            val scope = CoroutineScope(coroutineContext + Job())
            val monitor = Monitor(scope)
            val end = launch { scope.coroutineContext[Job]!!.children.forEach { it.join() } }
            delay(60.seconds)
            assertTrue(end.isActive)
            monitor.close()
            end.join()
        }
    }

    @Test
    fun monitor_onADispatcherThatRunsInPlace_looks() {
        runTest {
            val looks = AtomicInteger()
            val second = CompletableDeferred<Unit>()
            val monitor = Monitor(CoroutineScope(Dispatchers.Unconfined + Job()), every = 1.milliseconds)
            monitor.watch("pool") { Usage(0, 10).also { if (looks.incrementAndGet() == 2) second.complete(Unit) } }
            second.await()
            monitor.close()
        }
    }

    @Test
    fun every_thatIsNotPositiveAndFinite_isRefused() {
        runTest {
            for (every in listOf(Duration.ZERO, (-1).seconds, Duration.INFINITE)) {
                val refused = assertThrows(IllegalArgumentException::class.java) { Monitor(backgroundScope, every) }
                assertEquals("every = $every, must be positive and finite", refused.message)
            }
        }
    }

    @Test
    fun peak_isThatSinceTheLastSnapshot() {
        runTest {
            val semaphore = Semaphore(1, acquired = 1)
            val monitor = Monitor(backgroundScope)
            monitor.watchKept(semaphore, "uplink")
            fun peak() = monitor.snapshot().getValue("uplink").peakWaiting
            val jobs = List(3) { launch { semaphore.acquire() } }
            delay(100.milliseconds)
            jobs.take(2).forEach { it.cancel() }
            delay(2.seconds) // several looks
            assertEquals(3, peak())
            assertEquals(1, peak())
            semaphore.release()
            delay(1.seconds)
            assertEquals(1, peak())
            assertEquals(0, peak())
        }
    }

    @Test
    fun peak_ofWhatAFunctionReturns_countsFromBeforeTheFirstLook() {
        runTest {
            val semaphore = Semaphore(1, acquired = 1)
            val monitor = Monitor(backgroundScope)
            monitor.watch("uplink") { semaphore.usage() }
            List(3) { launch(start = CoroutineStart.UNDISPATCHED) { semaphore.acquire() } }.forEach { it.cancel() }
            val peaks = List(2) { monitor.snapshot().getValue("uplink").peakWaiting }
            assertEquals(listOf(3, 0), peaks)
        }
    }

    @Test
    fun peak_ofObjectsThatTakeTurns_isThatSinceTheLastSnapshot() {
        runTest {
            val first = Semaphore(1, acquired = 1)
            val second = Semaphore(1)
            var current = first
            val monitor = Monitor(backgroundScope)
            monitor.watch("uplink") { current.usage() }
            fun wait(callers: Int) =
                List(callers) { launch(start = CoroutineStart.UNDISPATCHED) { first.acquire() } }
                    .forEach { it.cancel() }
            val peaks = mutableListOf<Int>()
            fun snapshotOf(source: Semaphore) {
                current = source
                peaks += monitor.snapshot().getValue("uplink").peakWaiting
            }
            wait(callers = 3)
            snapshotOf(first)
            snapshotOf(second)
            snapshotOf(first)
            wait(callers = 2)
            snapshotOf(second)
            snapshotOf(first)
            assertEquals(listOf(3, 0, 0, 0, 2), peaks)
        }
    }

    @Test
    fun listener_getsLooksAndAlertsAndEnds() {
        runTest {
            val told = mutableListOf<String>()
            val monitor = Monitor(backgroundScope, rules = atOnce)
            val listener =
                object : MonitorListener {
                    override fun looked(name: String, type: String, source: Monitored?, usage: Usage) {
                        told += "$name $type ${usage.inUse} ${usage.peakWaiting}"
                    }

                    override fun ended(name: String, type: String) {
                        told += "$name $type ended"
                    }

                    override fun alerted(alert: Alert) {
                        told += "${alert.kind} ${alert.raised}"
                    }

                    override fun closed() {
                        told += "closed"
                    }
                }
            val listening = monitor.addListener(listener)
            val semaphore = Semaphore(1, acquired = 1)
            val watch = monitor.watchKept(semaphore, "uplink")
            launch { semaphore.acquire() }.also { delay(1.milliseconds) }.cancel()
            delay(600.milliseconds)
            watch.close()
            delay(500.milliseconds)
            assertEquals(
                listOf("uplink Semaphore 1 0", "UTILISATION true", "uplink Semaphore 1 1", "uplink Semaphore ended"),
                told,
            )
            listening.close()
            monitor.watchKept(semaphore)
            delay(1.seconds)
            assertEquals(4, told.size)
            monitor.addListener(listener)
            repeat(2) { monitor.close() }
            assertEquals("closed", told.drop(4).joinToString())
            assertThrows(IllegalStateException::class.java) { monitor.addListener(listener) }
        }
    }
}
