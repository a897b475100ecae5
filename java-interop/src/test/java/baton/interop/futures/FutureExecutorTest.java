package baton.interop.futures;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncSemaphore;
import baton.interop.Futures;
import baton.interop.Permit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The executor that completes the future of a request that had to wait. */
class FutureExecutorTest {
    static Stream<WaitKind> kinds() {
        return Arrays.stream(WaitKind.values()).filter(kind -> kind.create().on != null);
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void executor_completesTheFuture(WaitKind kind) {
        Wait wait = kind.create();
        Futures.Steps steps = new Futures.Steps();
        CompletableFuture<?> future = wait.on.apply(steps);
        wait.grant();
        assertFalse(future.isDone());
        assertEquals(0, wait.waiting());
        steps.runAll();
        wait.checkGranted(future.join());
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void executor_isNotNeededIfTheRequestNeedNotWait(WaitKind kind) {
        Wait wait = kind.create();
        if (!wait.isGrantKept) return;
        wait.grant();
        CompletableFuture<?> future = wait.on.apply(Futures.REJECTING);
        assertTrue(future.isDone());
        wait.checkGranted(future.join());
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void executor_thatRejectsOrIsBroken_leavesTheCompletionToTheGrantingThread(WaitKind kind) {
        List<Executor> broken = List.of(
                Futures.REJECTING,
                task -> {
                    throw new IllegalStateException("broken");
                },
                task -> {
                    throw new OutOfMemoryError("unable to create native thread");
                });
        for (Executor executor : broken) {
            Wait wait = kind.create();
            CompletableFuture<?> future = wait.on.apply(executor);
            wait.grant();
            assertTrue(future.isDone());
            wait.checkGranted(future.join());
        }
    }

    @Test
    void executor_thatIsBroken_delaysNoneGrantedWithIt() {
        AsyncSemaphore semaphore = AsyncSemaphore.create(2);
        Permit two = semaphore.acquire(2).join();
        CompletableFuture<Permit> first = semaphore.acquire(1, Futures.REJECTING);
        CompletableFuture<Permit> second = semaphore.acquire(1);
        two.close();
        assertTrue(first.isDone() && second.isDone());
    }

    @Test
    void executor_failsTheFutureOfAClosedSemaphoreToo() {
        AsyncSemaphore semaphore = AsyncSemaphore.create(2);
        Futures.Steps steps = new Futures.Steps();
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
    void callback_thatThrows_failsItsOwnStageAlone() {
        AsyncSemaphore semaphore = AsyncSemaphore.create(2);
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
