package baton.micrometer.core

import baton.resilience.BreakerState
import baton.resilience.CircuitBreaker
import io.micrometer.core.instrument.Gauge
import io.micrometer.core.instrument.Meter
import io.micrometer.core.instrument.MeterRegistry
import io.micrometer.core.instrument.Tags
import java.lang.ref.WeakReference
import java.util.Locale

/** The meters of one circuit breaker. Reading one asks the breaker. */
internal class BreakerMeters(private val registry: MeterRegistry, private val tags: Tags, breaker: CircuitBreaker) {
    private val reference = WeakReference(breaker)

    private val meters: List<Meter> =
        BreakerState.entries.map { state ->
            val own = tags.and("state", state.name.lowercase(Locale.ROOT))
            gauge("baton.breaker.state", "1 for the state of the breaker, 0 for the others", own) {
                if (it.state == state) 1.0 else 0.0
            }
        } +
            gauge("baton.breaker.failure.rate", "The share of failures in the window, 0 to 1", tags) {
                it.metrics.failureRate
            } +
            gauge("baton.breaker.slow.rate", "The share of slow calls in the window, 0 to 1", tags) {
                it.metrics.slowRate
            }

    private fun gauge(name: String, description: String, tags: Tags, value: (CircuitBreaker) -> Double): Gauge =
        Gauge.builder(name) { reference.get()?.let(value) ?: Double.NaN }
            .description(description)
            .tags(tags)
            .strongReference(true)
            .register(registry)

    fun remove() {
        meters.forEach(registry::remove)
    }
}
