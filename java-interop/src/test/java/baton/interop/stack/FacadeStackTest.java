package baton.interop.stack;

import static baton.interop.Futures.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncMutex;
import baton.interop.AsyncReadWriteLock;
import baton.interop.AsyncSemaphore;
import baton.interop.Futures;
import baton.interop.Permit;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Many hand-overs through callbacks, each of which releases the permit. */
class FacadeStackTest {
    private static final int MANY = 20_000;

    private final AsyncSemaphore semaphore = AsyncSemaphore.create(1);
    private final AtomicInteger runs = new AtomicInteger();

    /** Enqueues many calls for the only permit, admits the first, and waits for the last. */
    private void pass(int count, Function<FacadeStackTest, CompletableFuture<?>> call) {
        Permit permit = semaphore.acquire().join();
        CompletableFuture<?> last = null;
        for (int i = 0; i < count; i++) last = call.apply(this);
        assertEquals(count, semaphore.waiting());
        permit.close();
        await(last);
        await(semaphore.awaitIdle());
        assertEquals(count, runs.get());
        assertEquals(0, semaphore.waiting());
        assertEquals(1, semaphore.availablePermits());
    }

    private void count(Permit permit) {
        runs.incrementAndGet();
        permit.close();
    }

    private CompletionStage<Integer> counted() {
        return CompletableFuture.completedFuture(runs.incrementAndGet());
    }

    static Stream<Function<FacadeStackTest, CompletableFuture<?>>> calls() {
        return Stream.of(
                test -> test.semaphore.acquire().thenAccept(test::count),
                test -> test.semaphore.acquire(1, Runnable::run).thenAccept(test::count),
                test -> test.semaphore.acquire(1, Futures.REJECTING).thenAccept(test::count),
                test -> test.semaphore.withPermit(test::counted),
                test -> test.semaphore.withPermit(test::counted, Runnable::run));
    }

    @ParameterizedTest
    @MethodSource("calls")
    void calls_manyInARow_keepTheStackFlat(Function<FacadeStackTest, CompletableFuture<?>> call) {
        pass(MANY, call);
    }

    /** Enough for a stack that grows by one frame at each eighth hand-over only. */
    @Test
    void acquire_veryManyInARow_keepsTheStackFlat() {
        pass(10 * MANY, test -> test.semaphore.acquire().thenAccept(test::count));
    }

    @Test
    void withLock_manyInARow_keepsTheStackFlat() {
        AsyncMutex mutex = AsyncMutex.create();
        Permit permit = mutex.lock().join();
        CompletableFuture<Integer> last = null;
        for (int i = 0; i < MANY; i++) last = mutex.withLock(this::counted);
        assertEquals(MANY, mutex.waiting());
        permit.close();
        assertEquals(MANY, await(last));
        assertEquals(0, mutex.waiting());
    }

    /** Every other request reads: the leaving writer admits all readers, and the last of them a writer. */
    @Test
    void withReadAndWithWrite_manyInTurns_keepsTheStackFlat() {
        AsyncReadWriteLock rw = AsyncReadWriteLock.create();
        Permit permit = rw.lockWrite().join();
        CompletableFuture<Integer> last = null;
        for (int i = 0; i < MANY; i++) last = i % 2 == 0 ? rw.withRead(this::counted) : rw.withWrite(this::counted);
        assertEquals(MANY, rw.waiting());
        permit.close();
        assertEquals(MANY, await(last));
        assertEquals(0, rw.waiting() + rw.readers());
    }

    /** Two chains that wait for each other's permit, so that each acquire has to wait. */
    @Test
    void acquire_againFromTheCallback_keepsTheStackFlat() {
        assertChains(null);
    }

    @Test
    void acquire_againFromTheCallbackOfAnExecutorThatRunsAtOnce_keepsTheStackFlat() {
        assertChains(Runnable::run);
    }

    private void assertChains(Executor executor) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        Permit permit = semaphore.acquire().join();
        next(executor, done);
        next(executor, done);
        permit.close();
        await(done);
        assertTrue(runs.get() >= MANY);
        await(semaphore.awaitIdle());
        assertEquals(1, semaphore.availablePermits());
    }

    private void next(Executor executor, CompletableFuture<Void> done) {
        CompletableFuture<Permit> future = executor == null ? semaphore.acquire() : semaphore.acquire(1, executor);
        future.thenAccept(permit -> {
            if (runs.incrementAndGet() < MANY) next(executor, done);
            else done.complete(null);
            permit.close();
        });
    }

    @Test
    void cancel_ofAHeavyHeadBeforeMany_keepsTheStackFlat() {
        AsyncSemaphore two = AsyncSemaphore.create(2);
        Permit permit = two.acquire().join();
        CompletableFuture<Permit> heavy = two.acquire(2);
        CompletableFuture<?> last = null;
        for (int i = 0; i < MANY; i++) last = two.acquire().thenAccept(this::count);
        assertTrue(heavy.cancel(true));
        await(last);
        permit.close();
        assertTrue(await(two.awaitIdle()) == null);
        assertEquals(MANY, runs.get());
    }

    @Test
    void callback_thatGivesBackAndJoinsTheNextHolder_doesNotDeadlock() {
        for (int levels : new int[] {1, 2, 7, 8, 9, 30}) {
            Permit permit = semaphore.acquire().join();
            CompletableFuture<?>[] holders = new CompletableFuture<?>[levels];
            CompletableFuture<Integer>[] depth = futures(levels);
            for (int i = 0; i < levels; i++) {
                int number = i;
                holders[i] = semaphore.acquire().thenAccept(own -> {
                    own.close();
                    // Waits for the end of the next holder's callback.
                    int below = number + 1 < levels ? depth[number + 1].join() : 0;
                    depth[number].complete(below + 1);
                });
            }
            CompletableFuture<Void> released = CompletableFuture.runAsync(permit::close);
            assertEquals(levels, await(depth[0]));
            await(released);
            await(CompletableFuture.allOf(holders));
            assertFalse(semaphore.acquire().thenAccept(Permit::close).isCompletedExceptionally());
        }
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static CompletableFuture<Integer>[] futures(int count) {
        CompletableFuture<Integer>[] futures = new CompletableFuture[count];
        for (int i = 0; i < count; i++) futures[i] = new CompletableFuture<>();
        return futures;
    }
}
