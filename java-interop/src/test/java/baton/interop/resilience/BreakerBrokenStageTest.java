package baton.interop.resilience;

import static baton.interop.Futures.await;
import static baton.interop.Futures.awaitFailure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncCircuitBreaker;
import baton.resilience.BreakerState;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A breaker whose action returns the stage of a broken class. */
class BreakerBrokenStageTest {
    /** Stages of broken classes. */
    enum BrokenStage {
        REPORTS_TWICE {
            @Override
            void report(BiConsumer<? super String, ? super Throwable> action) {
                action.accept("page", null);
                action.accept(null, new IOException());
            }
        },
        REPORTS_AND_THROWS {
            @Override
            void report(BiConsumer<? super String, ? super Throwable> action) {
                action.accept("page", null);
                throw new IllegalStateException("broken");
            }
        };

        abstract void report(BiConsumer<? super String, ? super Throwable> action);

        CompletableFuture<String> newStage() {
            return new CompletableFuture<>() {
                @Override
                public CompletableFuture<String> whenComplete(BiConsumer<? super String, ? super Throwable> action) {
                    report(action);
                    return this;
                }
            };
        }
    }

    @ParameterizedTest
    @EnumSource
    void stageOfABrokenClass_countsOnce(BrokenStage kind) {
        AsyncCircuitBreaker breaker =
                AsyncCircuitBreakerTest.strict().probes(2, Duration.ofHours(1)).build();
        assertEquals("page", await(breaker.protect(kind::newStage)));
        assertEquals(BreakerState.CLOSED, breaker.state());
        assertEquals(1, breaker.metrics().getCalls());
    }

    @ParameterizedTest
    @EnumSource
    void probe_withAStageOfABrokenClass_countsOnce(BrokenStage kind) {
        AsyncCircuitBreaker breaker = AsyncCircuitBreakerTest.halfOpen(2);
        assertEquals("page", await(breaker.protect(kind::newStage)));
        assertEquals(BreakerState.HALF_OPEN, breaker.state());
        assertEquals("page", await(breaker.protect(kind::newStage)));
        assertEquals(BreakerState.CLOSED, breaker.state());
    }

    @Test
    void stage_thatThrowsInsteadOfReporting_isAFailureAndIsCancelled() {
        IllegalStateException broken = new IllegalStateException("broken");
        CompletableFuture<String> stage = new CompletableFuture<>() {
            @Override
            public CompletableFuture<String> whenComplete(BiConsumer<? super String, ? super Throwable> action) {
                throw broken;
            }
        };
        AsyncCircuitBreaker breaker = AsyncCircuitBreakerTest.strict().build();
        assertSame(broken, awaitFailure(breaker.protect(() -> stage)));
        assertEquals(BreakerState.OPEN, breaker.state());
        assertEquals(1, breaker.metrics().getCalls());
        assertTrue(stage.isCancelled());
    }
}
