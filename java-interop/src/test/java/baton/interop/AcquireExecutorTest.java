package baton.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.Futures.Steps;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Test;

/** The thread or executor that completes a future that had to wait. */
class AcquireExecutorTest {
    private final AsyncSemaphore semaphore = AsyncSemaphore.create(2);
    private final Steps steps = new Steps();

    @Test
    void acquire_withExecutor_isCompletedThere() {
        Permit two = semaphore.acquire(2).join();
        CompletableFuture<Permit> waits = semaphore.acquire(1, steps);
        two.close();
        assertFalse(waits.isDone());
        assertEquals(1, semaphore.availablePermits());
        steps.runAll();
        waits.join().close();
        assertEquals(2, semaphore.availablePermits());
    }

    @Test
    void acquire_withExecutorWhileFree_needsNoExecutor() {
        assertTrue(semaphore.acquire(1, Futures.REJECTING).isDone());
    }

    @Test
    void lock_withExecutor_isCompletedThere() {
        AsyncMutex mutex = AsyncMutex.create();
        Permit held = mutex.lock(null, steps).join();
        CompletableFuture<Permit> waits = mutex.lock(null, steps);
        CompletableFuture<Permit> owned = mutex.lock("me", steps);
        held.close();
        assertFalse(waits.isDone());
        assertTrue(mutex.isLocked());
        steps.runAll();
        waits.join().close();
        assertFalse(owned.isDone());
        assertEquals(Optional.of("me"), mutex.holder());
        steps.runAll();
        owned.join().close();
        assertFalse(mutex.isLocked());
    }

    @Test
    void cancel_ofAGrantStillAtTheExecutor_isTooLateAndLeavesThePermitInTheFuture() {
        Permit two = semaphore.acquire(2).join();
        CompletableFuture<Permit> waits = semaphore.acquire(1, steps);
        two.close();
        assertFalse(waits.cancel(true));
        assertTrue(waits.isDone());
        assertFalse(waits.isCancelled());
        steps.runAll();
        waits.join().close();
        assertEquals(2, semaphore.availablePermits());
    }

    @Test
    void complete_ofAGrantStillAtTheExecutor_isTooLateAndLeavesThePermitInTheFuture() {
        Permit two = semaphore.acquire(2).join();
        CompletableFuture<Permit> waits = semaphore.acquire(2, steps);
        two.close();
        assertFalse(waits.complete(two));
        assertFalse(waits.completeExceptionally(new IllegalStateException()));
        waits.join().close();
        assertEquals(2, semaphore.availablePermits());
    }

    @Test
    void executor_thatRejects_leavesTheCompletionToTheReleasingThread() {
        assertAllGetIn(Futures.REJECTING);
    }

    @Test
    void executor_thatIsBroken_neitherHangsTheFutureNorThoseWokenWithIt() {
        assertAllGetIn(task -> {
            throw new IllegalStateException("broken");
        });
        assertAllGetIn(task -> {
            throw new OutOfMemoryError("unable to create native thread");
        });
    }

    private void assertAllGetIn(Executor broken) {
        Permit two = semaphore.acquire(2).join();
        CompletableFuture<Permit> first = semaphore.acquire(1, broken);
        CompletableFuture<Permit> second = semaphore.acquire(1);
        two.close();
        assertTrue(first.isDone() && second.isDone());
        first.join().close();
        second.join().close();
        assertEquals(2, semaphore.availablePermits());
    }

    @Test
    void executor_failsTheFutureOfAClosedSemaphoreToo() {
        Permit two = semaphore.acquire(2).join();
        CompletableFuture<Permit> waits = semaphore.acquire(1, steps);
        semaphore.close();
        assertFalse(waits.isDone());
        assertEquals(0, semaphore.waiting());
        steps.runAll();
        assertTrue(waits.isCompletedExceptionally());
        two.close();
    }

    @Test
    void callback_thatThrows_isTheBusinessOfItsOwnStage() {
        Permit two = semaphore.acquire(2).join();
        List<CompletableFuture<Void>> stages = new ArrayList<>();
        List<Permit> got = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            stages.add(semaphore.acquire().thenAccept(p -> {
                got.add(p);
                throw new IllegalStateException("in a callback");
            }));
        }
        two.close();
        assertEquals(2, got.size());
        assertTrue(stages.stream().allMatch(CompletableFuture::isCompletedExceptionally));
        got.forEach(Permit::close);
        assertEquals(2, semaphore.availablePermits());
    }
}
