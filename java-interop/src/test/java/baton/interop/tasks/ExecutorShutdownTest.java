package baton.interop.tasks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.Priority;
import baton.interop.AsyncTaskScheduler;
import baton.interop.Futures;
import baton.interop.PriorityExecutor;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Shutdown of executors without threads of their own: no command runs after it, and no entry is left behind. */
class ExecutorShutdownTest {
    private final ExecutorService pool = Executors.newSingleThreadExecutor();

    @AfterEach
    void endPool() throws InterruptedException {
        pool.shutdownNow();
        assertTrue(pool.awaitTermination(120, TimeUnit.SECONDS));
    }

    static Stream<Function<Executor, ExecutorService>> kinds() {
        return Stream.of(
                threads -> PriorityExecutor.over(threads, 1),
                threads ->
                        AsyncTaskScheduler.builder(1).executor(threads).build().executor(Priority.NORMAL));
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void shutdownNow_withCommandsThatWait_beginsNoneAndReturnsThemInTheirOrder(Function<Executor, ExecutorService> kind)
            throws Exception {
        ExecutorService executor = kind.apply(pool);
        CountDownLatch runs = new CountDownLatch(1);
        AtomicInteger begun = new AtomicInteger();
        executor.execute(() -> {
            runs.countDown();
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException ignored) {
                // The interrupt of shutdownNow ends the command.
            }
        });
        assertTrue(runs.await(120, TimeUnit.SECONDS));
        List<Runnable> waiting = new ArrayList<>();
        for (int i = 0; i < 50_000; i++) {
            // Not a lambda or a method reference: each command must be an object of its own.
            Runnable command = new Runnable() {
                @Override
                public void run() {
                    begun.incrementAndGet();
                }
            };
            waiting.add(command);
            executor.execute(command);
        }
        List<Runnable> left = executor.shutdownNow();
        assertTrue(executor.awaitTermination(120, TimeUnit.SECONDS));
        assertEquals(0, begun.get());
        assertEquals(waiting.size(), left.size());
        for (int i = 0; i < left.size(); i++) assertTrue(waiting.get(i) == left.get(i), "place " + i);
    }

    /** A running command must not leave its thread before the executor has recorded its end. */
    @ParameterizedTest
    @MethodSource("kinds")
    void shutdownNow_byACommandItself_returnsTheOthersAndEnds(Function<Executor, ExecutorService> kind)
            throws Exception {
        ExecutorService executor = kind.apply(pool);
        List<Runnable> left = new ArrayList<>();
        CountDownLatch go = new CountDownLatch(1);
        executor.execute(() -> {
            try {
                assertTrue(go.await(120, TimeUnit.SECONDS));
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            left.addAll(executor.shutdownNow());
        });
        Runnable waits = () -> {};
        executor.execute(waits);
        go.countDown();
        assertTrue(executor.awaitTermination(120, TimeUnit.SECONDS));
        assertEquals(List.of(waits), left);
    }

    @Test
    void awaitTermination_ofAnExecutorOfAScheduler_findsThePlaceFree() throws Exception {
        AsyncTaskScheduler scheduler =
                AsyncTaskScheduler.builder(1).executor(pool).build();
        for (int round = 0; round < 2_000; round++) {
            ExecutorService executor = scheduler.executor(Priority.NORMAL);
            executor.execute(() -> {});
            executor.shutdown();
            assertTrue(executor.awaitTermination(120, TimeUnit.SECONDS));
            assertEquals(0, scheduler.metrics().getRunning(), "round " + round);
        }
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void awaitTermination_forANegativeTime_returnsAtOnce(Function<Executor, ExecutorService> kind) throws Exception {
        ExecutorService executor = kind.apply(new Futures.Steps());
        executor.execute(() -> {});
        executor.shutdown();
        assertFalse(executor.awaitTermination(-1, TimeUnit.SECONDS));
    }

    @Test
    void cancel_ofASubmittedCommandThatWaits_takesItOutOfTheQueue() throws Exception {
        AsyncTaskScheduler scheduler = AsyncTaskScheduler.create(1);
        scheduler.pause();
        ExecutorService executor = scheduler.executor(Priority.NORMAL);
        List<Future<?>> futures = new ArrayList<>();
        futures.add(executor.submit(() -> {}));
        futures.add(executor.submit(() -> {}, "value"));
        Callable<String> call = () -> "value";
        futures.add(executor.submit(call));
        futures.addAll(executor.invokeAll(List.of(call, call), 1, TimeUnit.MILLISECONDS));
        assertEquals(3, scheduler.metrics().getQueued());
        for (Future<?> future : futures) future.cancel(false);
        assertEquals(0, scheduler.metrics().getQueued());
        executor.shutdown();
        assertTrue(executor.isTerminated());
    }

    @Test
    void cancel_ofASubmittedCommandThatWaits_letsItsExecutorTerminate() {
        PriorityExecutor executor = PriorityExecutor.over(new Futures.Steps(), 1);
        Future<?> future = executor.submit(() -> {});
        executor.shutdown();
        assertFalse(executor.isTerminated());
        assertTrue(future.cancel(false));
        assertTrue(executor.isTerminated());
    }
}
