package baton.interop.monitoring;

import static baton.test.BatonAssertions.assertClosed;
import static baton.test.BatonAssertions.assertIdle;
import static baton.test.BatonAssertions.assertInUse;
import static baton.test.BatonAssertions.assertNoLeaks;
import static baton.test.BatonAssertions.assertWaiters;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncBarrier;
import baton.interop.AsyncChannel;
import baton.interop.AsyncCircuitBreaker;
import baton.interop.AsyncLatch;
import baton.interop.AsyncMonitor;
import baton.interop.AsyncMutex;
import baton.interop.AsyncReadWriteLock;
import baton.interop.AsyncSemaphore;
import baton.interop.AsyncTaskScheduler;
import baton.interop.AsyncWaitGroup;
import baton.interop.Permit;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Assertions of baton-test about objects of the Java API, which it does not know. */
class FacadeAssertionsTest {
    @Test
    void assertions_takeTheObjectsOfTheJavaApi() {
        AsyncMutex mutex = AsyncMutex.create();
        for (Object target : List.of(
                mutex,
                mutex.newCondition(),
                AsyncSemaphore.create(1),
                AsyncReadWriteLock.create(),
                AsyncBarrier.create(2),
                AsyncLatch.create(1),
                AsyncWaitGroup.create(),
                AsyncChannel.<String>create(1),
                AsyncCircuitBreaker.create("store"),
                AsyncTaskScheduler.create(1))) assertIdle(target);
    }

    @Test
    void semaphore_inUse_isNamedAsUsersKnowIt() {
        AsyncSemaphore semaphore = AsyncSemaphore.create(2);
        Permit held = semaphore.acquire(2).join();
        CompletableFuture<Permit> waiting = semaphore.acquire();
        assertWaiters(1, semaphore);
        assertInUse(2, semaphore);
        AssertionError error = assertThrows(AssertionError.class, () -> assertIdle(semaphore));
        assertEquals(
                semaphore + " is not idle",
                error.getMessage().lines().findFirst().orElseThrow());
        waiting.cancel(false);
        held.close();
        assertNoLeaks(() -> semaphore.acquire().join().close(), semaphore);
        assertThrows(
                AssertionError.class,
                () -> assertNoLeaks(() -> semaphore.acquire().join(), semaphore));
        semaphore.close();
        assertClosed(semaphore);
    }

    @Test
    void object_withoutAUsage_isRefused() {
        try (AsyncMonitor monitor = AsyncMonitor.start(Duration.ofDays(1), AsyncMonitor.rules(), alert -> {})) {
            var refusal = assertThrows(IllegalArgumentException.class, () -> assertIdle(monitor));
            String reason = ", a baton.interop.AsyncMonitor, is not Monitored";
            assertTrue(refusal.getMessage().startsWith(monitor + reason), refusal.getMessage());
        }
    }
}
