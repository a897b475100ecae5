package baton.micrometer.core

import baton.monitoring.Usage
import io.micrometer.core.instrument.FunctionCounter
import io.micrometer.core.instrument.Gauge
import io.micrometer.core.instrument.Meter
import io.micrometer.core.instrument.MeterRegistry
import io.micrometer.core.instrument.Tags
import io.micrometer.core.instrument.distribution.TimeWindowMax
import java.time.Duration
import kotlin.time.DurationUnit

/** The meters of one source. They show the last look at it. */
internal class SourceMeters(private val registry: MeterRegistry, name: String, val type: String) {
    private val tags = Tags.of("name", name, "type", type)

    @Volatile private var seen: Usage? = null

    /** As Micrometer's own meters: what is recorded counts for between one and two minutes. */
    private val peak = TimeWindowMax(registry.config().clock(), WINDOW.toMillis(), WINDOWS)

    private val meters = LinkedHashMap<String, Meter>()

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
        for (name in usage.totals.keys) meters.getOrPut(name) { counter(name) }
    }

    fun remove() {
        meters.values.forEach(registry::remove)
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

    private fun counter(name: String): Meter =
        FunctionCounter.builder(PREFIX + name, this) { it.seen?.totals?.get(name)?.toDouble() ?: Double.NaN }
            .description("Since the beginning")
            .tags(tags)
            .register(registry)

    private companion object {
        const val PREFIX = "baton."
        const val WINDOWS = 2
        val WINDOW: Duration = Duration.ofMinutes(1)
    }
}
