package baton.interop.resilience;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import baton.interop.AsyncPipeline;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BlockingPipelineTest {
    /** Without a layer that looks at interrupts the action ran, and a race that had ended by then gave its value. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void call_ofAnInterruptedThread_throwsWithoutRunningTheAction(boolean isHedged) {
        AsyncPipeline.Builder builder = AsyncPipeline.builder("plain");
        AsyncPipeline pipeline = (isHedged ? builder.hedge(Duration.ofHours(1), 2) : builder).build();
        AtomicInteger runs = new AtomicInteger();
        Thread.currentThread().interrupt();
        assertThrows(
                InterruptedException.class,
                () -> pipeline.blocking().call(runs::incrementAndGet, failure -> -runs.incrementAndGet()));
        assertFalse(Thread.interrupted());
        assertEquals(0, runs.get());
    }
}
