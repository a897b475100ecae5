package baton.interop.futures;

import static baton.interop.Futures.awaitFailure;
import static baton.interop.Futures.failure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;

import baton.interop.AsyncMutex;
import baton.interop.AsyncReadWriteLock;
import baton.interop.AsyncSemaphore;
import baton.interop.Futures;
import baton.interop.Futures.Steps;
import baton.interop.Permit;
import baton.sync.SemaphoreClosedException;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Actions with a timeout, on an executor, or of one kind of lock. */
class ScopedActionKindsTest {
    private final Steps steps = new Steps();
    private final CompletableFuture<Object> stage = new CompletableFuture<>();
    private int runs;
    private final Supplier<CompletionStage<Object>> action = () -> {
        runs++;
        return stage;
    };

    @Test
    void action_withATimeout_runsOnlyIfItIsGrantedInTime() {
        AsyncSemaphore semaphore = AsyncSemaphore.create(2);
        AsyncMutex mutex = AsyncMutex.create();
        AsyncReadWriteLock rw = AsyncReadWriteLock.create();
        Callable<Object> callable = () -> {
            runs++;
            return "in";
        };
        List<Function<Duration, CompletableFuture<Object>>> calls = List.of(
                time -> semaphore.withPermit(action, time),
                time -> semaphore.withPermits(2, action, time),
                time -> mutex.withLock(action, time),
                time -> rw.withRead(action, time),
                time -> rw.withWrite(action, time),
                time -> semaphore.withPermit(callable, Runnable::run, time),
                time -> semaphore.withPermits(2, callable, Runnable::run, time),
                time -> mutex.withLock(callable, Runnable::run, time),
                time -> rw.withRead(callable, Runnable::run, time),
                time -> rw.withWrite(callable, Runnable::run, time));
        List<Permit> held = List.of(
                semaphore.acquire(2).join(), mutex.lock().join(), rw.lockWrite().join());
        for (Function<Duration, CompletableFuture<Object>> call : calls) {
            for (int millis = -1; millis < 2; millis++) {
                assertInstanceOf(TimeoutException.class, awaitFailure(call.apply(Duration.ofMillis(millis))));
            }
        }
        assertEquals(0, runs + semaphore.waiting() + mutex.waiting() + rw.waiting());
        held.forEach(Permit::close);
        stage.complete("in");
        for (Function<Duration, CompletableFuture<Object>> call : calls) {
            assertEquals("in", call.apply(Duration.ZERO).join());
        }
        assertEquals(10, runs);
    }

    @Test
    void close_ofTheSemaphore_failsACallThatWaitsWithoutItsExecutor() {
        AsyncSemaphore semaphore = AsyncSemaphore.create(1);
        Permit permit = semaphore.acquire().join();
        CompletableFuture<Object> call = semaphore.withPermit(action, Futures.REJECTING);
        semaphore.close();
        assertInstanceOf(SemaphoreClosedException.class, failure(call));
        assertInstanceOf(SemaphoreClosedException.class, failure(semaphore.withPermit(action)));
        permit.close();
    }

    @Test
    void withLock_againByTheSameOwner_failsWithoutTheExecutor() {
        AsyncMutex mutex = AsyncMutex.create();
        AsyncReadWriteLock rw = AsyncReadWriteLock.create();
        Permit permit = mutex.ownedBy("me").lock().join();
        Permit read = rw.ownedBy("me").lockRead().join();
        assertInstanceOf(
                IllegalStateException.class, failure(mutex.ownedBy("me").withLock(action)));
        assertInstanceOf(
                IllegalStateException.class, failure(mutex.ownedBy("me").withLock(action, steps)));
        assertInstanceOf(IllegalStateException.class, failure(rw.ownedBy("me").withWrite(action)));
        assertEquals(0, steps.size() + runs + mutex.waiting() + rw.waiting());
        permit.close();
        read.close();
    }

    @Test
    void callable_onAnExecutor_givesItsValueOrItsException() {
        AsyncSemaphore semaphore = AsyncSemaphore.create(2);
        AsyncMutex mutex = AsyncMutex.create();
        AsyncReadWriteLock rw = AsyncReadWriteLock.create();
        Map<String, Integer> map = Map.of("k", 1);
        Supplier<Stream<CompletableFuture<Integer>>> calls = () -> Stream.of(
                semaphore.withPermit(() -> map.get("k"), steps),
                semaphore.withPermits(2, () -> map.get("k") + semaphore.availablePermits(), steps),
                mutex.withLock(() -> map.get("k"), steps),
                rw.withRead(() -> map.get("k"), steps),
                rw.withWrite(() -> map.get("k"), steps));
        assertEquals(0, calls.get().filter(CompletableFuture::isDone).count());
        steps.runAll();
        List<CompletableFuture<Integer>> ended = calls.get().toList();
        steps.runAll();
        for (CompletableFuture<Integer> call : ended) assertEquals(1, call.join());
        Duration time = Duration.ofDays(1);
        List<CompletableFuture<Integer>> timed = List.of(
                semaphore.withPermit(() -> map.get("k"), steps, time),
                semaphore.withPermits(2, () -> map.get("k") + semaphore.availablePermits(), steps, time),
                mutex.withLock(() -> map.get("k"), steps, time),
                rw.withRead(() -> map.get("k"), steps, time),
                rw.withWrite(() -> map.get("k"), steps, time));
        assertEquals(0, timed.stream().filter(CompletableFuture::isDone).count());
        steps.runAll();
        for (CompletableFuture<Integer> call : timed) assertEquals(1, call.join());
        for (CompletableFuture<Integer> call : List.of(
                semaphore.withPermit(() -> map.get("k"), Futures.REJECTING, time),
                mutex.withLock(() -> map.get("k"), Futures.REJECTING, time),
                rw.withRead(() -> map.get("k"), Futures.REJECTING, time),
                rw.withWrite(() -> map.get("k"), Futures.REJECTING, time)))
            assertInstanceOf(RejectedExecutionException.class, failure(call));
        IOException failure = new IOException();
        CompletableFuture<Integer> fails = semaphore.withPermit(
                (Callable<Integer>) () -> {
                    throw failure;
                },
                steps);
        steps.runAll();
        assertSame(failure, failure(fails));
        assertEquals("2 false 0", semaphore.availablePermits() + " " + mutex.isLocked() + " " + rw.readers());
    }

    @Test
    void withRead_ofSeveral_runTogether() {
        AsyncReadWriteLock rw = AsyncReadWriteLock.create();
        CompletableFuture<Object> one = rw.withRead(action);
        CompletableFuture<Object> two = rw.ownedBy("me").withRead(action, Runnable::run);
        assertEquals(2, rw.readers());
        stage.complete("in");
        assertEquals("in in", one.join() + " " + two.join());
    }
}
