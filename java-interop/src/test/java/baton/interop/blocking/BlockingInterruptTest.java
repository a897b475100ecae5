package baton.interop.blocking;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncBarrier;
import baton.interop.AsyncChannel;
import baton.interop.AsyncLatch;
import baton.interop.AsyncMutex;
import baton.interop.AsyncRateLimiter;
import baton.interop.AsyncReadWriteLock;
import baton.interop.AsyncSemaphore;
import baton.interop.AsyncWaitGroup;
import baton.interop.CancellableFuture;
import baton.interop.Permit;
import baton.interop.TaskScope;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

/** Interrupts before and during a wait: a call that throws holds nothing. */
@Timeout(300)
class BlockingInterruptTest {
    @Test
    void interruptedAlready_everyWait_throwsAndDoesNothing() {
        AsyncSemaphore semaphore = AsyncSemaphore.create(1);
        AsyncMutex mutex = AsyncMutex.create();
        AsyncReadWriteLock lock = AsyncReadWriteLock.create();
        AsyncChannel<String> channel = AsyncChannel.create(1);
        AsyncLatch latch = AsyncLatch.create(0);
        AsyncWaitGroup group = AsyncWaitGroup.create();
        AsyncBarrier barrier = AsyncBarrier.create(1);
        AsyncRateLimiter limiter =
                AsyncRateLimiter.builder(1, Duration.ofDays(1)).burst(2).build();
        Duration time = Duration.ofSeconds(1);
        List<Executable> calls = List.of(
                () -> semaphore.blocking().acquire(),
                () -> semaphore.blocking().acquire(time),
                () -> semaphore.blocking().call(() -> 1),
                () -> semaphore.blocking().tryAcquire(time),
                () -> semaphore.blocking().awaitIdle(),
                () -> semaphore.blocking().awaitIdle(time),
                () -> mutex.blocking().lockInterruptibly(),
                () -> mutex.blocking().call(() -> 1),
                () -> mutex.blocking().call(time, () -> 1),
                () -> lock.blocking().read(() -> 1),
                () -> lock.blocking().write(time, () -> 1),
                () -> channel.blocking().send("x"),
                () -> channel.blocking().send("x", time),
                () -> channel.blocking().reserve(),
                () -> channel.blocking().reserve(time),
                () -> channel.blocking().receive(),
                () -> channel.blocking().receive(time),
                () -> channel.blocking().receiveUpTo(2),
                () -> latch.blocking().await(),
                () -> latch.blocking().await(time),
                () -> group.blocking().await(),
                () -> group.blocking().await(time),
                () -> barrier.blocking().arrive(),
                () -> barrier.blocking().arrive(time),
                () -> limiter.blocking().acquire(),
                () -> limiter.blocking().acquire(2, time),
                () -> limiter.blocking().call(() -> 1));
        for (Executable call : calls) {
            Thread.currentThread().interrupt();
            assertThrows(InterruptedException.class, call);
            assertFalse(Thread.interrupted());
        }
        assertEquals(1, semaphore.availablePermits());
        assertFalse(mutex.isLocked());
        assertEquals(0, lock.readers());
        assertEquals(0, channel.size());
        assertEquals(2, limiter.availablePermits());
    }

    @Test
    void cancelledToken_ofAnInterruptibleTask_endsItsWaitAndTheScopeCloses() throws Exception {
        AsyncSemaphore semaphore = AsyncSemaphore.create(1);
        CompletableFuture<Thread> waits = new CompletableFuture<>();
        ExecutorService threads = Executors.newCachedThreadPool();
        try (Permit held = semaphore.blocking().acquire();
                TaskScope scope = TaskScope.open(threads)) {
            CancellableFuture<String> task = scope.fork(token -> {
                token.interruptible();
                waits.complete(Thread.currentThread());
                return semaphore.blocking().call(() -> "never");
            });
            while (semaphore.waiting() == 0 || !BlockedCall.isParked(waits.join())) Thread.onSpinWait();
            task.cancel(false);
            assertTrue(held.isHeld());
        }
        assertEquals("1 0", semaphore.availablePermits() + " " + semaphore.waiting());
        threads.shutdown();
    }

    @Test
    void acquireUninterruptibly_interrupted_waitsOnAndStaysInterrupted() throws Exception {
        AsyncSemaphore semaphore = AsyncSemaphore.create(2);
        Permit held = semaphore.blocking().acquireUninterruptibly(2);
        BlockedCall<Boolean> waiter = BlockedCall.parked(() -> {
            semaphore.blocking().acquireUninterruptibly().close();
            return Thread.currentThread().isInterrupted();
        });
        waiter.thread.interrupt();
        waiter.awaitParked();
        assertEquals(1, semaphore.waiting());
        held.close();
        assertTrue(waiter.result());
        Thread.currentThread().interrupt();
        semaphore.blocking().acquireUninterruptibly().close();
        assertTrue(Thread.interrupted());
        assertEquals(2, semaphore.availablePermits());
    }
}
