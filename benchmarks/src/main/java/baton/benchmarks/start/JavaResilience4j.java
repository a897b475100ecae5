package baton.benchmarks.start;

import io.github.resilience4j.bulkhead.Bulkhead;
import io.github.resilience4j.bulkhead.BulkheadConfig;

/** A call that would block. */
final class JavaResilience4j {
    private JavaResilience4j() {}

    public static void main(String[] args) {
        Bulkhead.of("start", BulkheadConfig.custom().maxConcurrentCalls(1).build())
                .acquirePermission();
        System.out.write(1);
        System.out.flush();
    }
}
