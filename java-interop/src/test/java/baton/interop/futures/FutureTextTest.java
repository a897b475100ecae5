package baton.interop.futures;

import static baton.interop.Futures.failure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
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
import baton.interop.CancellableFuture;
import baton.interop.Futures;
import baton.interop.Permit;
import baton.interop.Select;
import baton.interop.TaskOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
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
        AsyncTaskScheduler drained = AsyncTaskScheduler.create(1, "pages");
        drained.pause();
        assertFalse(drained.schedule(Priority.LOW, () -> 1).isDone());
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
                Select.<String>first().onReceive(lines, x -> x).start()
                        + " | select of 1 clause: receive of Channel 'lines' (size = 0, capacity = 1, waiting = 3)",
                drained.drain()
                        + " | drain of TaskScheduler 'pages' (maxConcurrency = 1, running = 0, queued = 1, waiting = 0,"
                        + " drained)",
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

    @Test
    void drain_thatIsCancelled_failsWithTheNameOfItsScheduler() {
        AsyncTaskScheduler scheduler = AsyncTaskScheduler.create(1, "pages");
        scheduler.pause();
        assertFalse(scheduler.schedule(Priority.LOW, () -> 1).isDone());
        CompletableFuture<Void> drain = scheduler.drain();
        drain.cancel(true);
        Throwable why = assertInstanceOf(CancellationException.class, failure(drain));
        assertEquals("drain of TaskScheduler 'pages' was cancelled", why.getMessage());
    }

    @Test
    void select_ofManyClauses_printsTheFirstFive() {
        AsyncSemaphore taken = AsyncSemaphore.create(1, "x");
        Permit held = taken.acquire().join();
        AsyncLatch latch = AsyncLatch.create(1, "ready");
        CompletableFuture<String> other =
                Select.<String>first().onAwait(latch, () -> "open").start();
        CompletableFuture<String> future = Select.<String>first()
                .onTimeout(Duration.ofMinutes(1), () -> "late")
                .onAcquire(taken, permit -> "permit")
                .onAwait(latch, () -> "open")
                .onFuture(new CompletableFuture<String>(), x -> x)
                .onFuture(other, x -> x)
                .start();
        String clauses = "select of 5 clauses: acquire of Semaphore 'x' (permits = 1, available = 0, waiting = 1);"
                + " await of Latch 'ready' (count = 1, waiting = 2); CompletableFuture; select; timeout of 1m";
        assertEquals(clauses, future.toString());
        Select<String> many = Select.first();
        for (int i = 0; i < 7; i++) many.onTimeout(Duration.ofMinutes(1), () -> "late");
        String minutes = "timeout of 1m; ".repeat(5);
        assertEquals("select of 7 clauses: " + minutes + "…", many.start().toString());
        held.close();
        assertEquals("select, done", future.toString());
    }

    @Test
    void cancellableFuture_fromQueuedToItsEnd_printsItsWork() {
        Futures.Steps steps = new Futures.Steps();
        List<String> texts = new ArrayList<>();
        AtomicReference<CancellableFuture<?>> self = new AtomicReference<>();
        CancellableFuture<Integer> future = CancellableFuture.supply(steps, token -> {
            texts.add(self.get().toString());
            return 1;
        });
        self.set(future);
        CancellableFuture<String> derived =
                future.thenApply(x -> x + 1).thenCombine(new CompletableFuture<>(), (x, y) -> "z");
        assertEquals("CancellableFuture of a function (queued)", future.toString());
        assertEquals("stage of CancellableFuture of a function (queued)", derived.toString());
        steps.runAll();
        String thread = Thread.currentThread().getName();
        assertEquals(List.of("CancellableFuture of a function (running, thread = " + thread + ")"), texts);
        assertEquals("CancellableFuture of a function, done", future.toString());
        derived.cancel(true);
        assertEquals("CancellableFuture, cancelled", derived.toString());
        CancellableFuture<Permit> failed = CancellableFuture.of(semaphore.acquire(5));
        assertEquals("CancellableFuture of a stage, done", failed.toString());
        CancellableFuture<Permit> acquire = CancellableFuture.of(semaphore.acquire());
        String request = "CancellableFuture of acquire of " + semaphore.kotlin();
        assertEquals(request, acquire.toString());
        assertEquals("stage of " + request, acquire.thenRun(() -> {}).toString());
        acquire.completeExceptionally(new IllegalStateException("over"));
        assertTrue(acquire.toString().endsWith(", failed: java.lang.IllegalStateException: over"), acquire::toString);
        assertEquals("CancellableFuture", acquire.newIncompleteFuture().toString());
    }

    @Test
    void cancellableFuture_ofALongChain_printsAShortText() {
        CancellableFuture<Integer> first = CancellableFuture.supply(command -> {}, token -> 1);
        CancellableFuture<Integer> last = first;
        for (int i = 0; i < 100_000; i++) last = last.thenApply(x -> x);
        assertEquals("stage of CancellableFuture", last.toString());
        assertFalse(first.isDone()); // and reachable until here, as is the chain
    }
}
