package baton.micrometer

import baton.Refusal
import baton.monitoring.Monitor
import baton.monitoring.Monitored
import baton.resilience.CircuitBreaker
import baton.resilience.CircuitBreakerConfig
import baton.resilience.CircuitOpenException
import baton.resilience.ResiliencePipeline
import baton.scheduler.Schedule
import baton.scheduler.ScheduleConfig
import baton.scheduler.Trigger
import io.micrometer.core.instrument.MockClock
import io.micrometer.core.instrument.Tags
import io.micrometer.core.instrument.simple.SimpleConfig
import io.micrometer.core.instrument.simple.SimpleMeterRegistry
import io.micrometer.prometheusmetrics.PrometheusConfig
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry
import java.lang.ref.WeakReference
import java.nio.file.Files
import java.nio.file.Path
import java.time.Duration
import java.util.concurrent.TimeUnit
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.advanceTimeBy
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTimeoutPreemptively
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** The meters of calls, of breakers and of runs. A look is at each second. */
class CallMetricsTest {
    private val registry = SimpleMeterRegistry(SimpleConfig.DEFAULT, MockClock())
    private val kept = ArrayList<Any>()

    private fun TestScope.watch(vararg sources: Monitored): Monitor {
        val monitor = Monitor(backgroundScope, every = 1.seconds)
        for (source in sources) {
            monitor.watch(source)
            kept += source
        }
        BatonMetrics(monitor).bindTo(registry)
        look()
        return monitor
    }

    private fun TestScope.look() {
        advanceTimeBy(1.seconds)
        runCurrent()
    }

    private fun tags(outcome: String, reason: String) =
        Tags.of("name", "bank", "type", "CircuitBreaker", "outcome", outcome, "reason", reason)

    @Test
    fun calls_ofABreaker_areTimedByOutcome() = runTest {
        val breaker = CircuitBreaker(CircuitBreakerConfig(ignoreIf = { it is IllegalArgumentException }), "bank")
        watch(breaker)
        breaker.protect { delay(3.seconds) }
        assertThrows<IllegalStateException> { breaker.protect { error("down") } }
        assertThrows<IllegalArgumentException> { breaker.protect { throw IllegalArgumentException("local") } }
        assertThrows<CancellationException> { breaker.protect { throw CancellationException("left") } }
        breaker.trip()
        assertThrows<CircuitOpenException> { breaker.protect {} }
        fun count(outcome: String, reason: String = "none") =
            registry.get("baton.calls").tags(tags(outcome, reason)).timer().count()
        assertEquals(1, count("success"))
        assertEquals(1, count("failure"))
        assertEquals(2, count("ignored"))
        assertEquals(1, count("refused", "CircuitOpenException"))
        val timer = registry.get("baton.calls").tags(tags("success", "none")).timer()
        assertEquals(3.0, timer.max(TimeUnit.SECONDS))
        assertEquals(listOf(0.5, 0.95, 0.99), timer.takeSnapshot().percentileValues().map { it.percentile() })
        assertEquals(0.0, registry.get("baton.calls.retries").tags("name", "bank").counter().count())
    }

    @Test
    fun waits_forPermits_areTimedOfPipelinesAlone() = runTest {
        watch(CircuitBreaker(name = "bank"), ResiliencePipeline("billing"))
        val names = registry.find("baton.calls.wait").timers().map { it.id.getTag("name") }
        assertEquals(listOf("billing"), names)
    }

    @Test
    fun refusal_ofAnAnonymousClass_hasAReason() = runTest {
        val breaker = CircuitBreaker(name = "bank")
        watch(breaker)
        assertThrows<IllegalStateException> {
            breaker.protect { throw object : IllegalStateException("full"), Refusal {} }
        }
        assertEquals(1, registry.get("baton.calls").tags(tags("refused", "Refusal")).timer().count())
    }

    @Test
    fun stateAndRates_ofABreaker_areThoseOfTheMoment() = runTest {
        val breaker = CircuitBreaker(name = "bank")
        watch(breaker)
        fun states() =
            listOf("closed", "open", "half_open", "forced_open", "disabled").associateWith {
                registry.get("baton.breaker.state").tags("name", "bank", "state", it).gauge().value()
            }
        assertEquals(setOf("closed"), states().filterValues { it == 1.0 }.keys)
        assertThrows<IllegalStateException> { breaker.protect { error("down") } }
        breaker.protect {}
        assertEquals(0.5, registry.get("baton.breaker.failure.rate").gauge().value())
        assertEquals(0.0, registry.get("baton.breaker.slow.rate").gauge().value())
        breaker.trip()
        assertEquals(setOf("forced_open"), states().filterValues { it == 1.0 }.keys)
    }

    @Test
    fun meters_ofASourceThatIsWatchedNoMore_areGone_andLaterCallsMakeNone() = runTest {
        val breaker = CircuitBreaker(name = "bank")
        val monitor = watch(breaker)
        breaker.protect {}
        monitor.close()
        assertEquals(emptyList<Any>(), registry.meters)
        breaker.protect {}
        assertThrows<IllegalStateException> { breaker.protect { error("down") } }
        assertEquals(emptyList<Any>(), registry.meters)
    }

    @Test
    fun breaker_thatIsWatched_isNotKeptInMemory() = runTest {
        val monitor = Monitor(backgroundScope, every = 1.seconds)
        BatonMetrics(monitor).bindTo(registry)
        val reference = watchOne(monitor)
        look()
        assertTimeoutPreemptively(Duration.ofMinutes(2)) { while (reference.get() != null) System.gc() }
        repeat(2) { look() }
        assertEquals(emptyList<Any>(), registry.meters)
    }

    private fun TestScope.watchOne(monitor: Monitor): WeakReference<CircuitBreaker> {
        val breaker = CircuitBreaker(name = "bank")
        monitor.watch(breaker)
        look()
        assertTrue(registry.meters.isNotEmpty())
        return WeakReference(breaker)
    }

    @Test
    fun runs_ofASchedule_areCountedByOutcome_withTheirLag() = runTest {
        val schedule =
            Schedule<String>(name = "checks", config = ScheduleConfig(onFailure = { _, _ -> })) {
                if (it.key == "bad") error("down")
                if (it.key == "slow") delay(30.minutes)
            }
        val running = backgroundScope.launch { schedule.run() }
        runCurrent()
        watch(schedule)
        for (key in listOf("good", "bad", "slow")) schedule.triggerNowOf(key)
        look()
        look()
        fun count(outcome: String) =
            registry.get("baton.runs").tags("name", "checks", "outcome", outcome).functionCounter().count()
        assertEquals(listOf(1.0, 1.0), listOf(count("succeeded"), count("failed")))
        assertEquals(3.0, registry.get("baton.runs.begun").tags("name", "checks").functionCounter().count())
        assertEquals(3.0, registry.get("baton.runs.lag").tags("name", "checks").functionTimer().count())
        assertTrue(registry.get("baton.run.longest").tags("name", "checks").gauge().value() >= 1.0)
        schedule.cancelRun("slow")
        look()
        assertEquals(1.0, count("cancelled"))
        assertEquals(0.0, count("timed.out"))
        assertNull(registry.find("baton.timedOut").meter())
        running.cancel()
    }

    private fun Schedule<String>.triggerNowOf(key: String) {
        put(key, Trigger.every(365.minutes))
        triggerNow(key)
    }

    /**
     * Makes all outcomes happen: a source has no meter for an outcome that it has not had, and a breaker none for
     * waits.
     */
    @Test
    fun queriesOfTheDashboard_nameMetersThatExist() = runTest {
        val prometheus = PrometheusMeterRegistry(PrometheusConfig.DEFAULT)
        val page = Files.readString(Path.of("../docs/grafana-dashboard.json"))
        val asked = Regex("baton_\\w+").findAll(page).map { it.value }.toSortedSet()
        assertTrue(asked.size >= 15) { "$asked" }
        val monitor = Monitor(backgroundScope, every = 1.seconds)
        BatonMetrics(monitor).bindTo(prometheus)
        val breaker = CircuitBreaker(name = "bank").also { it.trip() }
        val schedule = Schedule<String>(name = "checks") { delay(30.minutes) }
        val pipeline = ResiliencePipeline("billing")
        for (source in listOf(breaker, pipeline, schedule)) {
            kept += source
            monitor.watch(source)
        }
        backgroundScope.launch { schedule.run() }
        runCurrent()
        schedule.triggerNowOf("slow")
        repeat(60) { look() }
        assertThrows<CircuitOpenException> { breaker.protect {} }
        val shown = Regex("(?m)^baton_\\w+").findAll(prometheus.scrape()).map { it.value }.toSet()
        assertEquals(emptySet<String>(), asked - shown)
    }
}
