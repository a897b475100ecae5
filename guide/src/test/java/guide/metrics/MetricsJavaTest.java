package guide.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import baton.interop.AsyncCircuitBreaker;
import baton.interop.AsyncMonitor;
import baton.micrometer.BatonMetrics;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** The Java code of docs/metrics.md. */
class MetricsJavaTest {
    /** A field, because a monitor does not keep what it watches in memory. */
    private final AsyncCircuitBreaker upstream = AsyncCircuitBreaker.create("billing");

    @Test
    void uplink_idle_raisesNothing() {
        List<String> alerts = new CopyOnWriteArrayList<>();
        try (WatchedUplink uplink = new WatchedUplink(alerts::add)) {
            assertEquals(8, uplink.slots.availablePermits());
        }
        assertEquals(List.of(), alerts);
    }

    @Test
    void meters_ofAWatchedBreaker_areInTheRegistry() {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        AsyncMonitor monitor = AsyncMonitor.start(Duration.ofMillis(500), AsyncMonitor.rules(), alert -> {});
        monitor.watch("billing", upstream);
        new BatonMetrics(monitor.kotlin()).bindTo(registry);
        assertTimeoutPreemptively(Duration.ofSeconds(10), () -> {
            while (capacityOf("billing", registry) != 1.0) Thread.onSpinWait(); // the first look comes soon
        });
        monitor.close();
    }

    private static double capacityOf(String name, SimpleMeterRegistry registry) {
        Gauge gauge = registry.find("baton.capacity").tags("name", name).gauge();
        return gauge == null ? Double.NaN : gauge.value();
    }
}
