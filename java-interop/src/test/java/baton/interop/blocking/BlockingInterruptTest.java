package baton.interop.blocking;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncBarrier;
import baton.interop.AsyncChannel;
import baton.interop.AsyncLatch;
import baton.interop.AsyncMutex;
import baton.interop.AsyncReadWriteLock;
import baton.interop.AsyncSemaphore;
import baton.interop.AsyncWaitGroup;
import baton.interop.BlockingChannel;
import baton.interop.BlockingMutex;
import baton.interop.BlockingSemaphore;
import baton.interop.Permit;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

/** Interrupts before, during and at the end of a wait: a call that throws holds nothing, and nothing is lost. */
@Timeout(60)
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
        Duration time = Duration.ofSeconds(1);
        List<Executable> calls = List.of(
                () -> semaphore.blocking().acquire(),
                () -> semaphore.blocking().acquire(time),
                () -> semaphore.blocking().call(() -> 1),
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
                () -> latch.blocking().await(),
                () -> latch.blocking().await(time),
                () -> group.blocking().await(),
                () -> group.blocking().await(time),
                () -> barrier.blocking().arrive(),
                () -> barrier.blocking().arrive(time));
        for (Executable call : calls) {
            Thread.currentThread().interrupt();
            assertThrows(InterruptedException.class, call);
            assertFalse(Thread.interrupted());
        }
        assertEquals(1, semaphore.availablePermits());
        assertFalse(mutex.isLocked());
        assertEquals(0, lock.readers());
        assertEquals(0, channel.size());
    }

    /** The interrupt meets the grant, at a time that moves from before it to after it. */
    @Test
    void interrupt_meetsTheGrant_permitIsHeldOrBack() throws Exception {
        AsyncSemaphore async = AsyncSemaphore.create(1);
        BlockingSemaphore semaphore = async.blocking();
        int interrupted = 0;
        for (int round = 0; round < 500; round++) {
            Permit held = semaphore.acquire();
            Parked<Boolean> waiter = waiter(() -> semaphore.acquire().close());
            race(round, held::close, waiter.thread::interrupt);
            if (waiter.result()) interrupted++;
            assertEquals("1 0", async.availablePermits() + " " + async.waiting());
        }
        assertTrue(interrupted > 0, "no interrupt was in time");
    }

    @Test
    void interrupt_meetsTheElement_elementIsReceivedOrStays() throws Exception {
        AsyncChannel<Integer> async = AsyncChannel.create(1);
        BlockingChannel<Integer> channel = async.blocking();
        for (int round = 0; round < 500; round++) {
            int element = round;
            Parked<Boolean> waiter = waiter(() -> assertEquals(element, channel.receive()));
            race(round, () -> assertTrue(channel.trySend(element)), waiter.thread::interrupt);
            assertEquals(waiter.result() ? 1 : 0, async.size());
            if (async.size() == 1) assertEquals(element, channel.receive());
            assertEquals(0, async.waiting());
        }
    }

    @Test
    void interrupt_meetsTheUnlock_mutexIsFree() throws Exception {
        AsyncMutex async = AsyncMutex.create();
        BlockingMutex mutex = async.blocking();
        for (int round = 0; round < 500; round++) {
            mutex.lock();
            Parked<Boolean> waiter = waiter(() -> {
                mutex.lockInterruptibly();
                mutex.unlock();
            });
            race(round, mutex::unlock, waiter.thread::interrupt);
            waiter.result();
            assertFalse(async.isLocked());
            assertEquals(0, async.waiting());
        }
    }

    /** Its result: whether it was interrupted before it was served. */
    private static Parked<Boolean> waiter(Executable call) throws InterruptedException {
        return Parked.of(() -> {
            try {
                call.execute();
                return false;
            } catch (InterruptedException e) {
                return true;
            } catch (Throwable e) {
                throw new AssertionError(e);
            }
        });
    }

    private static void race(int round, Runnable grant, Runnable interrupt) throws InterruptedException {
        Thread interrupter = new Thread(interrupt);
        interrupter.start();
        LockSupport.parkNanos(round % 100 * 1_000L);
        grant.run();
        interrupter.join();
    }
}
