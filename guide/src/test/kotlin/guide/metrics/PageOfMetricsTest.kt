package guide.metrics

import baton.micrometer.BatonMetrics
import baton.monitoring.Deadlocks
import baton.monitoring.Monitor
import baton.monitoring.Waits
import baton.resilience.CircuitBreaker
import io.micrometer.core.instrument.simple.SimpleMeterRegistry
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.test.advanceTimeBy
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

/** The code of docs/metrics.md. */
class PageOfMetricsTest {
    @Test
    fun `a source that is watched has meters`() = runTest {
        val scope = backgroundScope
        val upstream = CircuitBreaker(name = "billing")
        val registry = SimpleMeterRegistry()
        val monitor = Monitor(scope)
        monitor.watch(upstream) // a pipeline, a breaker, a limiter, a semaphore, a schedule, …
        BatonMetrics(monitor).bindTo(registry)
        advanceTimeBy(10.seconds)
        assertEquals(1.0, registry.get("baton.capacity").tags("name", "billing").gauge().value())
        upstream.protect {}
    }

    private object log {
        fun warn(text: String) = println(text)
    }

    /** Not run: deadlock detection would stay on. */
    fun inAnIncident() {
        Waits.register() // at the start: JConsole and `jmxterm` have the dump under baton:type=Waits
        log.warn(Waits.dump())
        Deadlocks.enable() // holders are noted from now on, and the next dump names them
    }
}
