package baton.interop.futures;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.Priority;
import baton.interop.AsyncBarrier;
import baton.interop.AsyncChannel;
import baton.interop.AsyncLatch;
import baton.interop.AsyncMutex;
import baton.interop.AsyncReadWriteLock;
import baton.interop.AsyncSemaphore;
import baton.interop.AsyncTaskScheduler;
import baton.interop.AsyncWaitGroup;
import baton.interop.Permit;
import baton.interop.Select;
import baton.interop.TaskOptions;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The texts of futures, as a log shows them. */
class FutureTextTest {
    private final AsyncSemaphore semaphore = AsyncSemaphore.create(5, "uplink");

    @Test
    void semaphore_fromWaitingToItsEnd_tellsWhatItWaitsFor() {
        Permit held = semaphore.acquire(5).join();
        CompletableFuture<Permit> one = semaphore.acquire();
        CompletableFuture<Permit> two = semaphore.acquire();
        String state = " of Semaphore 'uplink' (permits = 5, available = 0, waiting = ";
        assertEquals("acquire" + state + "2)", one.toString());
        two.cancel(true);
        assertEquals("acquire" + state + "1), cancelled", two.toString());
        CompletableFuture<Integer> action = semaphore.withPermit(() -> new CompletableFuture<>());
        assertEquals("acquire" + state + "2)", action.toString());
        held.close();
        state = " of Semaphore 'uplink' (permits = 5, available = 3, waiting = ";
        assertEquals("acquire" + state + "0), done", one.toString());
        assertEquals("action, held: 1 permit" + state + "0)", action.toString());
        action.completeExceptionally(new IllegalStateException("over"));
        assertTrue(action.toString().endsWith(", failed: java.lang.IllegalStateException: over"), action::toString);
        one.join().close();
        assertEquals(
                "awaitIdle of " + semaphore.kotlin() + ", done",
                semaphore.awaitIdle().toString());
    }

    static List<String> texts() {
        AsyncMutex mutex = AsyncMutex.create("account");
        AsyncReadWriteLock rw = AsyncReadWriteLock.create("cache");
        AsyncChannel<String> lines = AsyncChannel.create(1, "lines");
        AsyncChannel<String> full = AsyncChannel.create(1, "full");
        AsyncLatch latch = AsyncLatch.create(1);
        AsyncWaitGroup group = AsyncWaitGroup.create();
        AsyncBarrier barrier = AsyncBarrier.create(2);
        AsyncTaskScheduler scheduler = AsyncTaskScheduler.create(1);
        Permit locked = mutex.lock().join();
        Permit written = rw.lockWrite().join();
        assertTrue(locked.isHeld() && written.isHeld() && full.trySend("x"));
        group.add();
        scheduler.pause();
        return List.of(
                mutex.lock() + " | lock of Mutex 'account' (locked, waiting = 1)",
                rw.lockRead() + " | lockRead of ReadWriteLock 'cache' (written, waiting = 1)",
                rw.lockWrite() + " | lockWrite of ReadWriteLock 'cache' (written, waiting = 2)",
                lines.receive() + " | receive of Channel 'lines' (size = 0, capacity = 1, waiting = 1)",
                full.send("y") + " | send of Channel 'full' (size = 1, capacity = 1, waiting = 1)",
                full.reserve() + " | reserve of Channel 'full' (size = 1, capacity = 1, waiting = 2)",
                lines.forEach(line -> {}) + " | forEach of Channel 'lines' (size = 0, capacity = 1, waiting = 2)",
                latch.await() + " | await of Latch (count = 1, waiting = 1)",
                group.await() + " | await of WaitGroup (count = 1, waiting = 1)",
                barrier.arrive() + " | arrive of Barrier (parties = 2, waiting = 1)",
                Select.<String>first().onReceive(lines, x -> x).start() + " | select of 1 clause",
                scheduler.schedule(TaskOptions.of(Priority.LOW).withKey("page"), () -> "x")
                        + " | ScheduledTask 'page' of priority LOW of TaskScheduler (maxConcurrency = 1, running = 0,"
                        + " queued = 1, waiting = 0, paused)");
    }

    @ParameterizedTest
    @MethodSource("texts")
    void future_thatWaits_printsTheCallAndTheState(String textAndExpectation) {
        String[] both = textAndExpectation.split(" \\| ");
        assertEquals(both[1], both[0]);
        assertFalse(both[0].contains("@"));
    }
}
