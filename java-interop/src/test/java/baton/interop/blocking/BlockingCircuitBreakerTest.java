package baton.interop.blocking;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncCircuitBreaker;
import baton.interop.BlockingCircuitBreaker;
import baton.resilience.BreakerState;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A breaker on the calling thread: interrupts. */
class BlockingCircuitBreakerTest {
    private final AsyncCircuitBreaker breaker =
            AsyncCircuitBreaker.builder().window(4).minimumCalls(1).name("api").build();
    private final BlockingCircuitBreaker blocking = breaker.blocking();

    @AfterEach
    void noInterrupt_isLeft() {
        assertFalse(Thread.interrupted());
    }

    @Test
    void action_interrupted_countsAsNothing() {
        assertThrows(
                InterruptedException.class,
                () -> blocking.call(() -> {
                    throw new InterruptedException();
                }));
        assertThrows(
                IOException.class,
                () -> blocking.call(() -> {
                    Thread.currentThread().interrupt();
                    throw new IOException("closed by the interrupt");
                }));
        assertTrue(Thread.interrupted());
        assertEquals(0, breaker.metrics().getCalls());
    }

    @Test
    void action_thatReturnsOnAnInterruptedThread_isASuccess() throws Exception {
        assertEquals("value", blocking.call(() -> {
            Thread.currentThread().interrupt();
            return "value";
        }));
        assertTrue(Thread.interrupted());
        assertEquals(1, breaker.metrics().getCalls());
    }

    @Test
    void interruptedThread_doesNotCall() {
        Thread.currentThread().interrupt();
        assertThrows(
                InterruptedException.class,
                () -> blocking.call(() -> {
                    throw new AssertionError("was called");
                }));
        Thread.currentThread().interrupt();
        assertThrows(InterruptedException.class, blocking::awaitClosed);
        assertEquals(0, breaker.metrics().getCalls());
    }

    @Test
    void awaitClosed_interrupted_leavesTheQueue() throws Exception {
        breaker.trip();
        FutureTask<InterruptedException> task =
                new FutureTask<>(() -> assertThrows(InterruptedException.class, blocking::awaitClosed));
        Thread thread = new Thread(task);
        thread.start();
        while (breaker.waiting() == 0) Thread.onSpinWait();
        thread.interrupt();
        task.get();
        assertEquals(0, breaker.waiting());
        assertFalse(blocking.awaitClosed(Duration.ofMillis(1)));
        breaker.reset();
        assertTrue(blocking.awaitClosed(Duration.ZERO));
    }

    @Test
    void failures_openIt() {
        assertThrows(
                IOException.class,
                () -> blocking.call(() -> {
                    throw new IOException();
                }));
        assertEquals(BreakerState.OPEN, breaker.state());
        assertTrue(blocking.toString().startsWith("BlockingCircuitBreaker 'api' (OPEN, "), blocking::toString);
    }
}
