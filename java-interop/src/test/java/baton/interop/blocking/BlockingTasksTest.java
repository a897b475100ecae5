package baton.interop.blocking;

import static baton.interop.blocking.BlockedCall.assertNotInterrupted;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.BlockingTasks;
import baton.interop.Futures;
import baton.interop.Tasks;
import baton.parallel.Outcome;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(300)
class BlockingTasksTest {
    private final ExecutorService pool = Executors.newFixedThreadPool(8);
    private final AtomicInteger inFlight = new AtomicInteger();
    private int pulled;

    @AfterEach
    void shutDown() {
        pool.shutdownNow();
    }

    private Iterable<Integer> elements(int count) {
        return () -> IntStream.range(0, count).boxed().peek(i -> pulled++).iterator();
    }

    private static String load(String url) throws IOException {
        if (url.isEmpty()) throw new IOException("no url");
        return "page of " + url;
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void mapLimit_runsAtMostLimit_returnsInInputOrder(boolean onDefault) throws Exception {
        AtomicInteger most = new AtomicInteger();
        BlockingTasks tasks = onDefault ? Tasks.blocking() : Tasks.blocking(pool);
        List<Integer> all = tasks.mapLimit(elements(2_000), 4, element -> {
            most.accumulateAndGet(inFlight.incrementAndGet(), Math::max);
            if (element % 7 == 0) Thread.yield();
            inFlight.decrementAndGet();
            return element;
        });
        assertEquals(IntStream.range(0, 2_000).boxed().toList(), all);
        assertTrue(most.get() <= 4, most::toString);
    }

    /** The elements meet at a barrier, so five of them run at a time. */
    @Test
    void mapLimit_runsAsManyAsTheLimitSays() throws Exception {
        CyclicBarrier five = new CyclicBarrier(5);
        Tasks.blocking().forEachLimit(elements(10), 5, element -> five.await());
    }

    @Test
    void checkedException_isThrownItself_afterWhatRuns() throws Exception {
        IOException disk = new IOException("disk");
        CountDownLatch begun = new CountDownLatch(2);
        CountDownLatch hasFailed = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        Executor reporting = task -> pool.execute(() -> {
            task.run();
            hasFailed.countDown();
        });
        BlockedCall<?> call =
                BlockedCall.started(() -> Tasks.blocking(reporting).mapLimit(elements(200_000), 2, element -> {
                    begun.countDown();
                    begun.await();
                    if (element == 0) throw disk;
                    go.await();
                    return element;
                }));
        hasFailed.await();
        call.awaitParked();
        go.countDown();
        assertSame(disk, assertThrows(ExecutionException.class, call::result).getCause());
        assertEquals(2, pulled);
    }

    @Test
    void methodReference_thatThrows_isAFunction() throws Exception {
        List<String> pages = Tasks.blocking().mapLimit(List.of("a", "b"), 5, BlockingTasksTest::load);
        assertEquals(List.of("page of a", "page of b"), pages);
        assertThrows(IOException.class, () -> Tasks.blocking().mapLimit(List.of(""), 5, BlockingTasksTest::load));
    }

    @Test
    void error_isThrownItself() {
        StackOverflowError error = new StackOverflowError();
        Error thrown = assertThrows(
                StackOverflowError.class,
                () -> Tasks.blocking(pool).mapLimit(elements(1), 1, element -> {
                    throw error;
                }));
        assertSame(error, thrown);
    }

    @Test
    void executorThatRejects_isAFailure() {
        assertThrows(
                RejectedExecutionException.class,
                () -> Tasks.blocking(Futures.REJECTING).mapLimit(elements(3), 2, element -> element));
    }

    /** A ThreadPoolExecutor may queue a task and then fail to start a thread for it. */
    @Test
    void executorThatTakesTheTaskAndThrows_failsTheElement_whichDoesNotBegin() {
        Futures.Steps later = new Futures.Steps();
        OutOfMemoryError noThread = new OutOfMemoryError("test");
        BlockingTasks tasks = Tasks.blocking(task -> {
            later.execute(task);
            throw noThread;
        });
        Error thrown = assertThrows(
                OutOfMemoryError.class, () -> tasks.mapLimit(elements(3), 2, element -> inFlight.incrementAndGet()));
        assertSame(noThread, thrown);
        later.runAll();
        assertEquals(0, inFlight.get());
    }

    @Test
    void executorThatRunsTheTaskAndThrows_keepsItsResult() throws Exception {
        BlockingTasks tasks = Tasks.blocking(task -> {
            task.run();
            throw new RejectedExecutionException("late");
        });
        assertEquals(List.of(0, 1, 2), tasks.mapLimit(elements(3), 2, element -> element));
    }

    /** Nested calls would wait for each other's threads if they shared a bounded number of them. */
    @Test
    void defaultExecutor_nestedCalls_haveThreadsOfTheirOwn() throws Exception {
        int width = 80;
        CyclicBarrier all = new CyclicBarrier(width);
        List<Integer> sums = Tasks.blocking().mapLimit(elements(width), width, outer -> {
            all.await();
            return Tasks.blocking().mapLimit(List.of(1, 2), 2, inner -> inner).get(1);
        });
        assertEquals(Collections.nCopies(width, 2), sums);
    }

    @Test
    void executorThatRunsInPlace_needsNoStack() throws Exception {
        assertEquals(
                200_000,
                Tasks.blocking(Runnable::run)
                        .mapLimit(elements(200_000), 2, element -> element)
                        .size());
    }

    @Test
    void mapSettled_hasAnOutcomeForEachElement() throws Exception {
        List<Outcome<String>> outcomes =
                Tasks.blocking(pool).mapSettled(List.of("a", "", "c", "d"), 1, 1, BlockingTasksTest::load);
        assertEquals(new Outcome.Success<>("page of a"), outcomes.get(0));
        assertInstanceOf(Outcome.Failure.class, outcomes.get(1));
        assertEquals(Collections.nCopies(2, Outcome.NotStarted.INSTANCE), outcomes.subList(2, 4));
        assertEquals(
                1,
                Tasks.blocking(pool)
                        .mapSettled(List.of("a"), 1, BlockingTasksTest::load)
                        .size());
    }

    @Test
    void sourceThatFails_isThrown() {
        IllegalStateException thrown = new IllegalStateException("source");
        Iterable<Integer> broken = () -> {
            throw thrown;
        };
        assertSame(
                thrown,
                assertThrows(
                        IllegalStateException.class,
                        () -> Tasks.blocking(pool).mapSettled(broken, 1, element -> element)));
    }

    @Test
    void interrupt_interruptsWhatRuns_andWaitsForIt() throws Exception {
        Semaphore begun = new Semaphore(0);
        List<String> interrupted = Collections.synchronizedList(new ArrayList<>());
        IOException cleanUp = new IOException("clean-up");
        BlockedCall<List<Integer>> call =
                BlockedCall.started(() -> Tasks.blocking(pool).mapLimit(elements(9), 2, element -> {
                    begun.release();
                    try {
                        new CountDownLatch(1).await();
                    } catch (InterruptedException e) {
                        interrupted.add("" + element);
                        if (element == 1) throw cleanUp;
                        throw e;
                    }
                    return element;
                }));
        begun.acquire(2);
        call.thread.interrupt();
        assertEquals(List.of(cleanUp), List.of(call.interruption().getSuppressed()));
        assertEquals(List.of("0", "1"), interrupted.stream().sorted().toList());
        assertEquals(2, pulled);
        assertNotInterrupted(pool, 8);
    }

    /** The executor gives the elements no thread before the interrupt. */
    @Test
    void interrupt_elementThatHasNoThreadYet_doesNotBegin() throws Exception {
        Futures.Steps never = new Futures.Steps();
        BlockedCall<List<Integer>> call = BlockedCall.parked(
                () -> Tasks.blocking(never).mapLimit(elements(9), 2, element -> inFlight.incrementAndGet()));
        call.thread.interrupt();
        call.interruption();
        never.runAll();
        assertEquals(2, pulled);
        assertEquals(0, inFlight.get());
    }

    @Test
    void call_onAnInterruptedThread_pullsNothing() {
        Thread.currentThread().interrupt();
        assertThrows(
                InterruptedException.class, () -> Tasks.blocking(pool).mapLimit(elements(1), 1, element -> element));
        assertFalse(Thread.interrupted());
        assertEquals(0, pulled);
    }

    @ParameterizedTest
    @ValueSource(ints = {Integer.MIN_VALUE, -1, 0})
    void limitAndMaxFailures_below1_areRefused(int number) {
        BlockingTasks tasks = Tasks.blocking(pool);
        var limit = assertThrows(
                IllegalArgumentException.class, () -> tasks.mapLimit(elements(1), number, element -> element));
        assertEquals("limit = " + number + ", must be at least 1", limit.getMessage());
        var maxFailures = assertThrows(
                IllegalArgumentException.class, () -> tasks.mapSettled(elements(1), 1, number, element -> element));
        assertEquals("maxFailures = " + number + ", must be at least 1", maxFailures.getMessage());
        assertEquals(0, pulled);
    }
}
