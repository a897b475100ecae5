package baton.micrometer.core

import baton.monitoring.Monitored
import baton.monitoring.MonitoredCalls
import baton.monitoring.Usage
import baton.resilience.CircuitBreaker
import io.micrometer.core.instrument.FunctionCounter
import io.micrometer.core.instrument.FunctionTimer
import io.micrometer.core.instrument.Gauge
import io.micrometer.core.instrument.Meter
import io.micrometer.core.instrument.MeterRegistry
import io.micrometer.core.instrument.Tags
import io.micrometer.core.instrument.distribution.TimeWindowMax
import java.time.Duration
import java.util.Locale
import java.util.concurrent.TimeUnit.MICROSECONDS
import kotlin.time.DurationUnit

/** The meters of one source. They show the last look at it. */
internal class SourceMeters(private val registry: MeterRegistry, name: String, val type: String, source: Monitored?) {
    private val tags = Tags.of("name", name, "type", type)

    @Volatile private var seen: Usage? = null

    /** As Micrometer's own meters: what is recorded counts for between one and two minutes. */
    private val peak = TimeWindowMax(registry.config().clock(), WINDOW.toMillis(), WINDOWS)

    private val meters = LinkedHashMap<String, Meter>()
    private val calls = (source as? MonitoredCalls)?.let { CallMeters(registry, tags, it) }
    private val breaker = (source as? CircuitBreaker)?.let { BreakerMeters(registry, tags, it) }

    init {
        gauge("in.use", "How much is in use") { it.inUse.toDouble() }
        gauge("capacity", "How much there is") { it.capacity.toDouble() }
        gauge("waiting", "Callers that wait") { it.waiting.toDouble() }
        gauge("waiting.max", "Most callers that waited at a time") { peak.poll() }
        gauge("wait.longest", "How long the longest wait goes on", unit = "seconds") {
            it.longestWait.toDouble(DurationUnit.SECONDS)
        }
    }

    fun show(usage: Usage) {
        peak.record(usage.peakWaiting.toDouble())
        seen = usage
        if (usage.longestRun.isPositive() && RUN !in meters) {
            gauge(RUN, "How long the oldest run goes on", unit = "seconds") {
                it.longestRun.toDouble(DurationUnit.SECONDS)
            }
        }
        val isOfRuns = LAG in usage.totals
        for (name in usage.totals.keys) {
            meters.getOrPut(name) { if (isOfRuns) ofRuns(name) else counter(PREFIX + wordsOf(name), name, tags) }
        }
    }

    fun remove() {
        meters.values.forEach(registry::remove)
        calls?.remove()
        breaker?.remove()
    }

    private fun gauge(name: String, description: String, unit: String? = null, value: (Usage) -> Double) {
        meters[name] =
            Gauge.builder(PREFIX + name) { seen?.let(value) ?: Double.NaN }
                .description(description)
                .baseUnit(unit)
                .tags(tags)
                .strongReference(true)
                .register(registry)
    }

    /** Of a schedule: an outcome of its runs, and how late they have begun. */
    private fun ofRuns(total: String): Meter =
        when (total) {
            LAG ->
                FunctionTimer.builder(
                        PREFIX + "runs.lag",
                        this,
                        { it.total(FIRED).toLong() },
                        { it.total(LAG) },
                        MICROSECONDS,
                    )
                    .description("How late runs have begun")
                    .tags(tags)
                    .register(registry)
            FIRED -> counter(PREFIX + "runs.begun", total, tags)
            RETRIED -> counter(PREFIX + "runs.retried", total, tags)
            else -> counter(PREFIX + "runs", total, tags.and("outcome", wordsOf(total)))
        }

    private fun counter(name: String, total: String, tags: Tags): Meter =
        FunctionCounter.builder(name, this) { it.total(total) }
            .description("Since the beginning")
            .tags(tags)
            .register(registry)

    private fun total(name: String): Double = seen?.totals?.get(name)?.toDouble() ?: Double.NaN

    private companion object {
        const val PREFIX = "baton."
        const val RUN = "run.longest"
        const val FIRED = "fired"
        const val RETRIED = "retried"
        const val LAG = "lagTotal"
        const val WINDOWS = 2
        val WINDOW: Duration = Duration.ofMinutes(1)

        /** Micrometer separates words by dots: `timedOut` is `timed.out`. */
        fun wordsOf(total: String): String = total.replace(Regex("[A-Z]")) { "." + it.value.lowercase(Locale.ROOT) }
    }
}
