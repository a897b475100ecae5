package baton.interop.futures;

import static baton.interop.Futures.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncCondition;
import baton.interop.AsyncMutex;
import baton.interop.AsyncSemaphore;
import baton.interop.ContextPropagation;
import baton.interop.ContextPropagator;
import baton.interop.Futures;
import baton.interop.Permit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ForkJoinPool;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Propagators that throw, and such that misuse the action. */
@Timeout(300)
class FailingPropagatorTest {
    @AfterEach
    void disable() {
        ContextPropagation.disable();
    }

    /** Captures the same value always, and restores nothing. */
    private static class Constant implements ContextPropagator<String> {
        @Override
        public String capture() {
            return "";
        }

        @Override
        public Runnable restore(String captured) {
            return () -> {};
        }
    }

    /** A propagator that fails must not lose a permit. */
    @Test
    void propagatorThatThrows_losesNothing() {
        AsyncSemaphore semaphore = AsyncSemaphore.create(1);
        IllegalStateException failure = new IllegalStateException("no context");
        ContextPropagation.enable(new ContextPropagator<Object>() {
            @Override
            public Object capture() {
                throw failure;
            }

            @Override
            public Runnable restore(Object captured) {
                throw failure;
            }
        });
        try (Permit held = semaphore.acquire().join()) {
            assertSame(failure, assertThrows(IllegalStateException.class, semaphore::acquire));
            assertEquals("1 0", semaphore.permits() + " " + semaphore.waiting());
            assertTrue(held.isHeld());
        }
        assertThrows(
                IllegalStateException.class, () -> semaphore.withPermit(() -> CompletableFuture.completedFuture(1)));
        assertThrows(IllegalStateException.class, () -> semaphore.withPermit(() -> 1, Runnable::run));
        AsyncMutex mutex = AsyncMutex.create();
        AsyncCondition condition = mutex.newCondition();
        Permit locked = mutex.lock().join();
        assertThrows(IllegalStateException.class, () -> condition.await(locked));
        assertThrows(IllegalStateException.class, () -> condition.await(locked, Duration.ofDays(1)));
        assertTrue(locked.isHeld());
        locked.close();
        assertFalse(mutex.isLocked());
        List<Throwable> reported = Futures.reportedBy(() -> {
            ContextPropagation.enable(new Constant() {
                @Override
                public Runnable restore(String captured) {
                    throw failure;
                }
            });
            Permit held = semaphore.acquire().join();
            CompletableFuture<Permit> next = semaphore.acquire();
            held.close();
            next.join().close();
        });
        assertEquals(List.of(failure), reported);
        assertEquals(1, semaphore.availablePermits());
    }

    /** As a propagator of users might: it calls the action twice, not at all, and hides its failure. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void propagatorThatMisusesTheAction_runsItOnce_andItsResultCounts(int calls) {
        List<Integer> runs = Collections.synchronizedList(new ArrayList<>());
        ContextPropagation.enable(new Constant() {
            @Override
            @SuppressWarnings("ReturnsNullCollection")
            public <T> T around(String captured, Callable<T> action) {
                for (int i = 0; i < calls; i++) {
                    try {
                        action.call();
                    } catch (Exception e) {
                        // Hidden.
                    }
                }
                return null;
            }
        });
        AsyncSemaphore semaphore = AsyncSemaphore.create(1);
        assertEquals(
                7,
                await(semaphore.withPermit(
                        () -> {
                            runs.add(1);
                            return 7;
                        },
                        ForkJoinPool.commonPool())));
        assertEquals(List.of(1), runs);
        IllegalStateException failure = new IllegalStateException("of the action");
        CompletableFuture<Integer> failed = semaphore.withPermit(
                () -> {
                    throw failure;
                },
                ForkJoinPool.commonPool());
        assertSame(
                failure, assertThrows(CompletionException.class, failed::join).getCause());
    }
}
