package samples.java;

import baton.interop.AsyncCircuitBreaker;
import baton.interop.AsyncMonitor;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import samples.support.RefusedException;
import samples.support.uptime.MonitorOptions;

/** A breaker for each host, watched by a monitor from the first call on. */
final class HostBreakers {
    private final MonitorOptions options;
    private final AsyncMonitor monitor;
    private final Map<String, AsyncCircuitBreaker> breakers = new ConcurrentHashMap<>();

    HostBreakers(MonitorOptions options, AsyncMonitor monitor) {
        this.options = options;
        this.monitor = monitor;
    }

    AsyncCircuitBreaker of(String host) {
        return breakers.computeIfAbsent(host, this::newBreaker);
    }

    private AsyncCircuitBreaker newBreaker(String host) {
        AsyncCircuitBreaker breaker = AsyncCircuitBreaker.builder()
                .window(20)
                .minimumCalls(20)
                .openFor(options.shortened(Duration.ofSeconds(30)))
                .isFailure(RefusedException::isTemporary)
                .name(host)
                .build();
        monitor.watch(host, breaker);
        return breaker;
    }
}
