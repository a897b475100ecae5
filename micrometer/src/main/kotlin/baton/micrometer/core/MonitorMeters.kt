package baton.micrometer.core

import baton.monitoring.Alert
import baton.monitoring.Monitored
import baton.monitoring.Usage
import baton.monitoring.core.MonitorListener
import io.micrometer.core.instrument.Counter
import io.micrometer.core.instrument.MeterRegistry
import io.micrometer.core.instrument.Tags

/** The meters of one registry. All calls come from the monitor's coroutine, but [closed] may come beside another. */
internal class MonitorMeters(private val registry: MeterRegistry) : MonitorListener {
    // Guarded by this.
    private val sources = LinkedHashMap<String, SourceMeters>()
    private val alerts = LinkedHashMap<Tags, Counter>()
    private var isClosed = false

    @Synchronized
    override fun looked(name: String, type: String, source: Monitored?, usage: Usage) {
        if (!isClosed) sources.getOrPut(name) { SourceMeters(registry, name, type, source) }.show(usage)
    }

    @Synchronized
    override fun ended(name: String, type: String) {
        sources.remove(name)?.remove()
    }

    @Synchronized
    override fun alerted(alert: Alert) {
        if (isClosed || !alert.raised) return
        val type = sources[alert.source]?.type ?: NO_TYPE
        val tags = Tags.of("name", alert.source, "type", type, "kind", alert.kind.name)
        val counter =
            alerts.getOrPut(tags) {
                Counter.builder("baton.alerts").description("Alerts that were raised").tags(tags).register(registry)
            }
        counter.increment()
    }

    @Synchronized
    override fun closed() {
        isClosed = true
        sources.values.forEach { it.remove() }
        sources.clear()
        alerts.values.forEach(registry::remove)
        alerts.clear()
    }

    private companion object {
        /** Of an alert that is not about a watched source, such as one of a deadlock. */
        const val NO_TYPE = "none"
    }
}
