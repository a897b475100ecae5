package baton.micrometer

import baton.monitoring.AlertRules
import baton.monitoring.Monitor
import baton.monitoring.Monitored
import baton.monitoring.Usage
import baton.scheduler.TaskScheduler
import baton.sync.Semaphore
import io.micrometer.core.instrument.MockClock
import io.micrometer.core.instrument.simple.SimpleConfig
import io.micrometer.core.instrument.simple.SimpleMeterRegistry
import java.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.cancel
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.advanceTimeBy
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Test

/** A look is at each half second. */
class BatonMetricsTest {
    /** The watched sources: the monitor does not keep them in memory. */
    private val kept = ArrayList<Any>()

    private fun Monitor.watchKept(source: Monitored, name: String? = null) = watch(source, name).also { kept += source }

    private val clock = MockClock()
    private val registry = SimpleMeterRegistry(SimpleConfig.DEFAULT, clock)

    private fun TestScope.monitor(rules: AlertRules = AlertRules()) =
        Monitor(backgroundScope, every = 500.milliseconds, rules)

    private fun gauge(name: String, source: String = "uplink", type: String = "Semaphore"): Double =
        registry.get("baton.$name").tags("name", source, "type", type).gauge().value()

    private fun names(): List<String> = registry.meters.map { "${it.id.name} ${it.id.getTag("name")}" }.sorted()

    private fun TestScope.look() {
        advanceTimeBy(500.milliseconds)
        runCurrent()
    }

    @Test
    fun gauges_afterALook_showWhatItHasSeen() = runTest {
        val semaphore = Semaphore(permits = 10, name = "uplink")
        val monitor = monitor()
        monitor.watchKept(semaphore)
        BatonMetrics(monitor).bindTo(registry)
        semaphore.acquire(9)
        val waiter = launch(CoroutineName("second")) { semaphore.acquire(3) }
        runCurrent()
        look()
        assertEquals(listOf(9.0, 10.0, 1.0), listOf("in.use", "capacity", "waiting").map { gauge(it) })
        semaphore.release(9)
        assertEquals(9.0, gauge("in.use"))
        look()
        assertEquals(listOf(3.0, 10.0, 0.0), listOf("in.use", "capacity", "waiting").map { gauge(it) })
        waiter.join()
    }

    @Test
    fun longestWait_ofASource_isInSeconds() = runTest {
        val monitor = monitor()
        monitor.watch("pool") { Usage(10, 10, waiting = 2, longestWait = 1500.milliseconds) }
        BatonMetrics(monitor).bindTo(registry)
        look()
        assertEquals(1.5, gauge("wait.longest", "pool", "Usage"))
    }

    @Test
    fun waitingMax_whenNoCallerWaitsAnyMore_staysForAMinute() = runTest {
        val semaphore = Semaphore(permits = 1, acquired = 1, name = "uplink")
        val monitor = monitor()
        monitor.watchKept(semaphore)
        BatonMetrics(monitor).bindTo(registry)
        look()
        val waiters = List(3) { launch { semaphore.acquire() } }
        runCurrent()
        repeat(3) { semaphore.release() }
        waiters.forEach { it.join() }
        look()
        assertEquals(listOf(0.0, 3.0), listOf(gauge("waiting"), gauge("waiting.max")))
        clock.add(Duration.ofSeconds(59))
        look()
        assertEquals(3.0, gauge("waiting.max"))
        clock.add(Duration.ofSeconds(61))
        look()
        assertEquals(0.0, gauge("waiting.max"))
    }

    /** The readers are the callers of `usage`, a monitor, and the meters of another monitor. */
    private fun assertEachReaderHasItsPeak(source: Monitored, wait: suspend () -> Unit) = runTest {
        val monitor = monitor()
        val metered = monitor()
        listOf(monitor, metered).forEach { it.watchKept(source, "source") }
        BatonMetrics(metered).bindTo(registry)
        fun snapshot() = monitor.snapshot().getValue("source").peakWaiting
        fun peaks() = listOf(source.usage().peakWaiting, snapshot(), source.usage().peakWaiting)
        look()
        for (callers in listOf(3, 1)) {
            val waits = List(callers) { launch { wait() } }
            runCurrent()
            waits.forEach { it.cancel() }
            runCurrent()
            assertEquals(listOf(3, callers, 3), peaks(), "of the source, since the snapshot before")
            look()
            assertEquals(callers.toDouble(), gauge("waiting.max", "source", source.javaClass.simpleName))
            assertEquals(0, snapshot())
            clock.add(Duration.ofSeconds(121))
            look()
        }
    }

    @Test
    fun peak_ofAPrimitive_isThatOfEachReader() {
        val semaphore = Semaphore(permits = 1, acquired = 1)
        assertEachReaderHasItsPeak(semaphore) { semaphore.acquire() }
    }

    @Test
    fun peak_ofATaskScheduler_isThatOfEachReader() {
        val scope = CoroutineScope(Dispatchers.Unconfined)
        val scheduler = TaskScheduler(scope, maxConcurrency = 1)
        scheduler.pause()
        assertEachReaderHasItsPeak(scheduler) { scheduler.run {} }
        scope.cancel()
    }

    @Test
    fun meters_ofAWatchThatIsClosed_areRemovedWithTheNextLook() = runTest {
        val monitor = monitor()
        BatonMetrics(monitor).bindTo(registry)
        val pool = monitor.watch("pool") { Usage(1, 10) }
        monitor.watch("other") { Usage(1, 10) }
        look()
        assertEquals(10, names().size)
        pool.close()
        look()
        val left = listOf("capacity", "in.use", "wait.longest", "waiting", "waiting.max").map { "baton.$it other" }
        assertEquals(left, names())
        monitor.close()
        assertEquals(emptyList<String>(), names())
    }

    @Test
    fun source_ofAnotherTypeUnderTheSameName_getsItsOwnMeters() = runTest {
        val monitor = monitor()
        BatonMetrics(monitor).bindTo(registry)
        val first = monitor.watch("uplink") { Usage(1, 10) }
        look()
        assertEquals(1.0, gauge("in.use", type = "Usage"))
        first.close()
        val semaphore = Semaphore(permits = 5, acquired = 4)
        monitor.watchKept(semaphore, name = "uplink")
        look()
        assertEquals(4.0, gauge("in.use"))
        assertEquals(5, names().size)
        assertEquals(4, semaphore.permits - semaphore.availablePermits)
    }

    @Test
    fun alerts_raisedAndCleared_areCountedWhenRaised() = runTest {
        var inUse = 10L
        val monitor = monitor(AlertRules(after = 1.seconds))
        monitor.watch("pool") { Usage(inUse, 10) }
        BatonMetrics(monitor).bindTo(registry)
        repeat(2) {
            inUse = 10
            repeat(4) { look() }
            inUse = 0
            repeat(4) { look() }
        }
        val counter =
            registry.get("baton.alerts").tags("name", "pool", "type", "Usage", "kind", "UTILISATION").counter()
        assertEquals(2.0, counter.count())
    }

    @Test
    fun alert_ofTheFirstLook_hasTheTypeOfItsSource() = runTest {
        val monitor = monitor(AlertRules(after = 0.seconds))
        BatonMetrics(monitor).bindTo(registry)
        monitor.watch("pool") { Usage(10, 10) }
        look()
        assertEquals(1.0, registry.get("baton.alerts").tags("type", "Usage").counter().count())
    }

    @Test
    fun totals_ofATaskScheduler_areCounters() = runTest {
        val scheduler = TaskScheduler(backgroundScope, maxConcurrency = 1, name = "jobs")
        val monitor = monitor()
        monitor.watchKept(scheduler)
        BatonMetrics(monitor).bindTo(registry)
        scheduler.schedule { 42 }.await()
        scheduler.schedule { error("no answer") }.join()
        scheduler.close()
        scheduler.schedule { 42 }.join()
        look()
        fun count(name: String) =
            registry.get("baton.$name").tags("name", "jobs", "type", "TaskScheduler").functionCounter()
        assertEquals(listOf(2.0, 1.0, 1.0), listOf("started", "failed", "refused").map { count(it).count() })
    }

    @Test
    fun registries_ofOneMonitor_showTheSame() = runTest {
        val other = SimpleMeterRegistry()
        val monitor = monitor()
        monitor.watch("pool") { Usage(3, 10) }
        val metrics = BatonMetrics(monitor)
        metrics.bindTo(registry)
        metrics.bindTo(other)
        look()
        assertEquals(3.0, gauge("in.use", "pool", "Usage"))
        assertEquals(3.0, other.get("baton.in.use").gauge().value())
    }

    @Test
    fun bindTo_whenTheMonitorIsClosed_isRefused() = runTest {
        val monitor = monitor()
        monitor.close()
        val metrics = BatonMetrics(monitor)
        assertThrows(IllegalStateException::class.java) { metrics.bindTo(registry) }
        assertEquals("BatonMetrics of Monitor (every = 500ms, watches = 0, alerts = 0)", "$metrics")
    }
}
