package baton.micrometer

import baton.micrometer.core.MonitorMeters
import baton.monitoring.Monitor
import baton.monitoring.MonitoredCalls
import io.micrometer.core.instrument.MeterRegistry
import io.micrometer.core.instrument.binder.MeterBinder

/**
 * Meters for what a [Monitor] watches.
 *
 * ```
 * val monitor = Monitor(scope)
 * monitor.watch(semaphore, name = "uplink")
 * BatonMetrics(monitor).bindTo(registry)
 * ```
 *
 * `docs/metrics.md` lists the meters. Each has the tags `name` and `type` of its source; the alert of a deadlock has
 * the type `none`. Gauges of what is in use and of waiting show what the last look of the monitor has seen: to read
 * them does not touch what is watched. Calls of a [MonitoredCalls], a breaker or a pipeline, are timed by their outcome
 * as they end; to read the meters of a breaker's state asks the breaker. The meters of a source appear with the first
 * look at it, and go with the first look without it, or when the monitor is closed. Counters of alerts stay until then.
 *
 * No key, owner or message becomes a tag. The reason of a refused call is the class of its exception.
 *
 * The [totals][baton.monitoring.Usage.totals] of other sources are counters, too: `baton.` and their name. All members
 * may be called from any thread. One monitor may be bound to several registries. Two monitors that are bound to one
 * registry must not watch sources with the same name and type: they would share meters, which go with the first of the
 * two.
 */
public class BatonMetrics(private val monitor: Monitor) : MeterBinder {
    /**
     * Binds the meters to [registry], until the monitor is closed.
     *
     * @throws IllegalStateException if the monitor is closed.
     */
    override fun bindTo(registry: MeterRegistry) {
        monitor.addListener(MonitorMeters(registry))
    }

    override fun toString(): String = "BatonMetrics of $monitor"
}
