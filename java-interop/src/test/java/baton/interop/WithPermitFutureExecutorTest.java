package baton.interop;

import static baton.interop.Futures.failure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.Futures.Steps;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Several permits, or a lock with an owner, around an action that an executor runs. */
class WithPermitFutureExecutorTest {
    private final AsyncSemaphore semaphore = AsyncSemaphore.create(3);
    private final AsyncMutex mutex = AsyncMutex.create();
    private final Steps steps = new Steps();
    private final CompletableFuture<String> stage = new CompletableFuture<>();
    private int runs;

    private final Supplier<CompletionStage<String>> action = () -> {
        runs++;
        return stage;
    };

    @Test
    void withPermits_free_runsOnTheExecutorAndHoldsThemUntilTheStageHasEnded() {
        CompletableFuture<String> call = semaphore.withPermits(2, action, steps);
        assertEquals(1, semaphore.availablePermits());
        assertEquals(0, runs);
        steps.runAll();
        assertEquals(1, runs);
        assertEquals(1, semaphore.availablePermits());
        stage.complete("done");
        assertEquals("done", call.join());
        assertEquals(3, semaphore.availablePermits());
    }

    /** The cancel throws, because the permits that it would release were released already. */
    @Test
    void cancel_afterThePermitsWereReleasedByOtherCode_completesTheCallAllTheSame() {
        CompletableFuture<String> call = semaphore.withPermits(2, action, steps);
        semaphore.kotlin().release(2);
        assertThrows(IllegalStateException.class, () -> call.cancel(false));
        assertTrue(call.isCancelled());
        steps.runAll();
        assertEquals(0, runs);
        assertEquals(3, semaphore.availablePermits());
    }

    @Test
    void withPermits_thatHadToWait_runsOnTheExecutorInItsTurn() {
        Permit two = semaphore.acquire(2).join();
        CompletableFuture<String> call = semaphore.withPermits(3, action, steps);
        CompletableFuture<Permit> behind = semaphore.acquire();
        assertEquals(0, steps.size());
        assertEquals(2, semaphore.waiting());
        two.close();
        assertEquals(1, steps.size());
        assertFalse(behind.isDone());
        steps.runAll();
        stage.complete("done");
        assertEquals("done", call.join());
        behind.join().close();
    }

    @Test
    void withPermits_whoseExecutorRejects_failsAndGivesBackAll() {
        assertInstanceOf(
                RejectedExecutionException.class, failure(semaphore.withPermits(3, action, Futures.REJECTING)));
        assertEquals(3, semaphore.availablePermits());
        assertEquals(0, runs);
    }

    @Test
    void withPermits_cancelledWhileItWaitsOrIsWithTheExecutor_neverRuns() {
        Permit one = semaphore.acquire().join();
        CompletableFuture<String> waits = semaphore.withPermits(3, action, steps);
        assertTrue(waits.cancel(true));
        assertEquals(0, semaphore.waiting());
        CompletableFuture<String> granted = semaphore.withPermits(2, action, steps);
        assertTrue(granted.cancel(true));
        assertEquals(2, semaphore.availablePermits());
        steps.runAll();
        one.close();
        assertEquals(0, runs);
        assertEquals(3, semaphore.availablePermits());
    }

    @Test
    void withLock_withOwnerFree_runsOnTheExecutorAndIsHeldByItUntilTheStageHasEnded() {
        CompletableFuture<String> call = mutex.withLock("me", action, steps);
        assertEquals(Optional.of("me"), mutex.holder());
        assertEquals(0, runs);
        steps.runAll();
        assertEquals(Optional.of("me"), mutex.holder());
        stage.complete("done");
        assertEquals("done", call.join());
        assertFalse(mutex.isLocked());
    }

    @Test
    void withLock_withOwnerThatHadToWait_runsOnTheExecutorInItsTurn() {
        Permit permit = mutex.lock("other").join();
        CompletableFuture<String> call = mutex.withLock("me", action, steps);
        CompletableFuture<Permit> behind = mutex.lock("last");
        assertEquals(2, mutex.kotlin().getWaiting());
        permit.close();
        assertEquals(Optional.of("me"), mutex.holder());
        steps.runAll();
        stage.complete("done");
        assertEquals("done", call.join());
        assertEquals(Optional.of("last"), mutex.holder());
        behind.join().close();
    }

    @Test
    void withLock_againByTheSameOwner_failsWithoutTheExecutor() {
        Permit permit = mutex.lock("me").join();
        assertInstanceOf(IllegalStateException.class, failure(mutex.withLock("me", action, steps)));
        assertEquals(0, steps.size());
        assertEquals(0, mutex.waiting());
        permit.close();
        assertFalse(mutex.isLocked());
    }

    @Test
    void withLock_withOwnerWhoseExecutorRejects_failsAndUnlocks() {
        assertInstanceOf(RejectedExecutionException.class, failure(mutex.withLock("me", action, Futures.REJECTING)));
        assertFalse(mutex.isLocked());
        assertEquals(0, runs);
    }

    @Test
    void withLock_withOwnerCancelledWhileItWaitsOrIsWithTheExecutor_neverRuns() {
        Permit permit = mutex.lock().join();
        CompletableFuture<String> waits = mutex.withLock("me", action, steps);
        assertTrue(waits.cancel(true));
        assertEquals(0, mutex.waiting());
        permit.close();
        CompletableFuture<String> granted = mutex.withLock("me", action, steps);
        assertTrue(granted.cancel(true));
        assertFalse(mutex.isLocked());
        steps.runAll();
        assertEquals(0, runs);
    }

    @Test
    void withLock_byAnOwnerThatIsAnExecutor_runsOnTheOneThatComesLast() {
        Steps owner = new Steps();
        CompletableFuture<String> call = mutex.withLock(owner, action, steps);
        assertSame(owner, mutex.holder().orElseThrow());
        assertEquals(0, owner.size());
        steps.runAll();
        stage.complete("done");
        assertEquals("done", call.join());
    }
}
