package guide.metrics;

import baton.interop.AsyncMonitor;
import baton.interop.AsyncSemaphore;
import baton.monitoring.AlertRules;
import java.time.Duration;
import java.util.function.Consumer;

final class WatchedUplink implements AutoCloseable {
    final AsyncSemaphore slots = AsyncSemaphore.create(8);
    private final AsyncMonitor monitor;

    WatchedUplink(Consumer<String> warn) {
        AlertRules rules = AsyncMonitor.rules(0.9, 0.7, Duration.ofSeconds(5), Duration.ofSeconds(30));
        monitor = AsyncMonitor.start(Duration.ofMillis(500), rules, alert -> warn.accept(alert.toString()));
        monitor.watch("uplink", slots);
    }

    @Override
    public void close() {
        monitor.close();
    }
}
