package baton.interop.futures;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncChannel;
import baton.interop.AsyncSemaphore;
import baton.interop.CancellableFuture;
import baton.interop.Permit;
import baton.interop.PriorityExecutor;
import baton.interop.Select;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeoutException;
import java.util.function.IntFunction;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The threads on which timeouts expire, and blocked threads that must not delay them. */
class TimeoutThreadsTest {
    private static final int PROCESSORS = Runtime.getRuntime().availableProcessors();
    private static final AsyncSemaphore NONE_FREE = AsyncSemaphore.create(1);

    static {
        Permit held = NONE_FREE.acquire().join();
        assertTrue(held.isHeld());
    }

    /** The ways to get a future that fails with a TimeoutException, or ends with "late". */
    enum Timed {
        ACQUIRE(millis -> NONE_FREE.acquire(Duration.ofMillis(millis))),
        RECEIVE(millis -> AsyncChannel.create(1).receive(Duration.ofMillis(millis))),
        OR_TIMEOUT(millis -> NONE_FREE.acquire().orTimeout(millis, MILLISECONDS)),
        WITH_PERMIT_OR_TIMEOUT(millis ->
                NONE_FREE.withPermit(() -> CompletableFuture.completedFuture(1)).orTimeout(millis, MILLISECONDS)),
        CANCELLABLE_OR_TIMEOUT(
                millis -> CancellableFuture.of(new CompletableFuture<>()).orTimeout(Duration.ofMillis(millis))),
        COMPLETE_ON_TIMEOUT(
                millis -> AsyncChannel.<String>create(1).receive().completeOnTimeout("late", millis, MILLISECONDS)),
        SELECT(millis -> Select.<String>first()
                .onAcquire(NONE_FREE, permit -> "permit")
                .onTimeout(Duration.ofMillis(millis), () -> "late")
                .start());

        private final IntFunction<CompletableFuture<?>> way;

        Timed(IntFunction<CompletableFuture<?>> way) {
            this.way = way;
        }

        CompletableFuture<?> start(int millis) {
            return way.apply(millis);
        }

        final void assertExpires(Future<?> expired) {
            try {
                assertTrue("late".equals(expired.get(120, SECONDS)), this::name);
            } catch (ExecutionException e) {
                assertTrue(e.getCause() instanceof TimeoutException, e::toString);
            } catch (InterruptedException | TimeoutException e) {
                throw new AssertionError("not expired: " + name(), e);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void timeout_whileAllThreadsOfDefaultWaitForSuch_expires(Timed way) {
        ExecutorService executor = PriorityExecutor.create(PROCESSORS);
        List<Future<?>> tasks = new ArrayList<>();
        for (int i = 0; i < PROCESSORS; i++) {
            tasks.add(executor.submit(() -> way.assertExpires(way.start(100))));
        }
        for (Future<?> task : tasks) assertEnds(task);
        executor.shutdown();
    }

    private static void assertEnds(Future<?> task) {
        try {
            Object nothing = task.get(120, SECONDS);
            assertTrue(nothing == null);
        } catch (InterruptedException | ExecutionException | TimeoutException e) {
            throw new AssertionError(e);
        }
    }

    @ParameterizedTest
    @EnumSource
    void timeout_whileDependentsOfOthersBlock_expires(Timed way) {
        Thread here = Thread.currentThread();
        CountDownLatch gate = new CountDownLatch(1);
        List<CompletableFuture<Boolean>> blocked = new ArrayList<>();
        for (int i = 0; i < 4 * PROCESSORS; i++) {
            blocked.add(way.start(100).handle((value, e) -> Thread.currentThread() == here || opens(gate)));
        }
        way.assertExpires(way.start(100));
        gate.countDown();
        for (CompletableFuture<Boolean> one : blocked) assertTrue(one.join());
    }

    private static boolean opens(CountDownLatch gate) {
        try {
            return gate.await(120, SECONDS);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @ParameterizedTest
    @EnumSource
    void timeout_dependents_runOnNoTimersThread(Timed way) {
        assertNoTimers(way.start(100).handle((value, e) -> Thread.currentThread()));
    }

    @ParameterizedTest
    @EnumSource(names = {"ACQUIRE", "OR_TIMEOUT"})
    void timeout_thatGrantsTheNext_doesSoOnNoTimersThread(Timed way) {
        AsyncSemaphore semaphore = AsyncSemaphore.create(2);
        Permit held = semaphore.acquire().join();
        CompletableFuture<Permit> heavy = way == Timed.ACQUIRE
                ? semaphore.acquire(2, Duration.ofMillis(100))
                : semaphore.acquire(2).orTimeout(100, MILLISECONDS);
        assertNoTimers(semaphore.acquire().thenApply(permit -> Thread.currentThread()));
        assertThrows(ExecutionException.class, () -> heavy.get(120, SECONDS));
        held.close();
    }

    /** The current thread is accepted too: it runs the function if it derives the stage after the completion. */
    private static void assertNoTimers(CompletableFuture<Thread> thread) {
        String name = thread.orTimeout(120, SECONDS).join().getName();
        boolean isOurs = name.startsWith("baton-callbacks")
                || name.equals(Thread.currentThread().getName());
        assertTrue(isOurs, name);
    }
}
