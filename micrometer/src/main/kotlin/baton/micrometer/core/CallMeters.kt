package baton.micrometer.core

import baton.monitoring.CallEvent
import baton.monitoring.CallOutcome
import baton.monitoring.MonitoredCalls
import baton.resilience.CircuitBreaker
import io.micrometer.core.instrument.Counter
import io.micrometer.core.instrument.Meter
import io.micrometer.core.instrument.MeterRegistry
import io.micrometer.core.instrument.Tags
import io.micrometer.core.instrument.Timer
import java.lang.ref.WeakReference
import java.util.Locale
import java.util.concurrent.ConcurrentHashMap
import kotlin.time.toJavaDuration

/** The meters of the calls of one source. Used by each thread that ends a call, without a lock. */
internal class CallMeters(private val registry: MeterRegistry, private val tags: Tags, source: MonitoredCalls) {
    private val timers = ConcurrentHashMap<Kind, Timer>()

    /** Null for a breaker, whose calls wait for no permit. */
    private val waits =
        if (source is CircuitBreaker) null
        else timer("baton.calls.wait", "How long calls have waited for permits").tags(tags).register(registry)
    private val attempts = counter("baton.calls.attempts", "Attempts of calls")
    private val retries = counter("baton.calls.retries", "Attempts that a retry has begun")

    /** Guarded by this. */
    private var isRemoved = false

    /**
     * Weakly: it refers to the source, which the meters must not keep in memory. Last, for the threads that call it.
     */
    private val listening = WeakReference(source.onCall(::ended))

    private data class Kind(val outcome: CallOutcome, val reason: String)

    private fun ended(event: CallEvent) {
        val kind = Kind(event.outcome, reasonOf(event))
        val timer = timers[kind] ?: newTimer(kind) ?: return
        timer.record(event.duration.toJavaDuration())
        if (event.waited.isPositive()) waits?.record(event.waited.toJavaDuration())
        attempts.increment(event.attempts.toDouble())
        retries.increment(event.retries.toDouble())
    }

    /** Null once the meters are removed: by then another source may have that name. */
    @Synchronized
    private fun newTimer(kind: Kind): Timer? = if (isRemoved) null else timers.getOrPut(kind) { register(kind) }

    /** The class of a refusal: classes are few, messages are not. An anonymous one has no name, and no tag is empty. */
    private fun reasonOf(event: CallEvent): String {
        if (event.outcome != CallOutcome.REFUSED) return "none"
        return event.failure?.javaClass?.simpleName?.ifEmpty { "Refusal" } ?: "none"
    }

    private fun register(kind: Kind): Timer =
        timer("baton.calls", "How long calls have taken")
            .tags(tags)
            .tags("outcome", kind.outcome.name.lowercase(Locale.ROOT), "reason", kind.reason)
            .register(registry)

    private fun timer(name: String, description: String): Timer.Builder =
        Timer.builder(name).description(description).publishPercentiles(MEDIAN, NINETY_FIVE, NINETY_NINE)

    private fun counter(name: String, description: String): Counter =
        Counter.builder(name).description(description).tags(tags).register(registry)

    @Synchronized
    fun remove() {
        listening.get()?.close()
        isRemoved = true
        (timers.values + listOfNotNull<Meter>(waits, attempts, retries)).forEach(registry::remove)
    }

    private companion object {
        const val MEDIAN = 0.5
        const val NINETY_FIVE = 0.95
        const val NINETY_NINE = 0.99
    }
}
