package baton.micrometer

import baton.micrometer.core.MonitorMeters
import baton.monitoring.Monitor
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
 * |meter                                 |kind               |what it shows                                                   |
 * |--------------------------------------|-------------------|----------------------------------------------------------------|
 * |`baton.in.use`, `baton.capacity`      |gauge              |how much is in use, and how much there is                       |
 * |`baton.waiting`                       |gauge              |how many callers wait                                           |
 * |`baton.waiting.max`                   |gauge              |the most callers that waited at a time in the last minute or two|
 * |`baton.wait.longest`                  |gauge, seconds     |how long the longest of their waits goes on                     |
 * |`baton.alerts`                        |counter, tag `kind`|how many alerts were raised since the registry was bound        |
 * |`baton.started`, `.failed`, `.refused`|counter            |of a task scheduler, since it was made                          |
 *
 * Each meter has the tags `name` and `type` of its source; the alert of a deadlock has the type `none`. The first two
 * and those of waiting show what the last look of the monitor has seen: to read a meter does not touch what is watched.
 * The meters of a source appear with the first look at it, and go with the first look without it, or when the monitor
 * is closed. Counters of alerts stay until then.
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
