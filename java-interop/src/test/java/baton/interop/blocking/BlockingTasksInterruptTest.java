package baton.interop.blocking;

import static baton.interop.blocking.BlockedCall.assertNotInterrupted;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.BlockingTasks;
import baton.interop.Tasks;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Interrupts of a caller whose own thread pulls or runs the function, and of the threads that do so for it. */
@Timeout(300)
class BlockingTasksInterruptTest {
    private final BlockingTasks inPlace = Tasks.blocking(Runnable::run);
    private final ExecutorService pool = Executors.newFixedThreadPool(2);
    private final CountDownLatch never = new CountDownLatch(1);
    private final AtomicInteger calls = new AtomicInteger();

    @AfterEach
    void shutDown() {
        pool.shutdownNow();
    }

    private static Iterable<Integer> endless() {
        return () -> Stream.iterate(0, i -> i + 1).iterator();
    }

    private static InterruptedException interrupt(Callable<?> call) {
        BlockedCall<?> blocked = BlockedCall.parked(call);
        blocked.thread.interrupt();
        return blocked.interruption();
    }

    private int block(int element) throws InterruptedException {
        calls.incrementAndGet();
        never.await();
        return element;
    }

    @Test
    void mapSettled_interruptedInAFunctionInPlace_throws() {
        interrupt(() -> inPlace.mapSettled(List.of(1, 2, 3), 1, this::block));
        assertEquals(1, calls.get());
    }

    @Test
    void mapLimit_interruptedInAFunctionInPlace_interruptsTheOthers() {
        CountDownLatch other = new CountDownLatch(1);
        AtomicInteger submitted = new AtomicInteger();
        BlockingTasks firstElsewhere = Tasks.blocking(task -> {
            if (submitted.getAndIncrement() == 0) pool.execute(task);
            else task.run();
        });
        BlockedCall<?> call = BlockedCall.started(() -> firstElsewhere.mapLimit(List.of(1, 2, 3), 2, element -> {
            if (element == 1) other.countDown();
            else other.await();
            return block(element);
        }));
        awaitCalls(2);
        call.awaitParked();
        call.thread.interrupt();
        assertEquals(0, call.interruption().getSuppressed().length);
        assertEquals(2, calls.get());
    }

    private void awaitCalls(int count) {
        while (calls.get() < count) Thread.onSpinWait();
    }

    /** The function never looks at the flag. */
    @Test
    void forEachLimit_interruptedBetweenElementsInPlace_stops() {
        BlockedCall<?> call = BlockedCall.started(() -> {
            inPlace.forEachLimit(endless(), 1, element -> calls.incrementAndGet());
            return null;
        });
        awaitCalls(1);
        call.thread.interrupt();
        call.interruption();
    }

    /** A function may catch the exception, and set the flag of its thread again. */
    @Test
    void mapSettled_functionInPlaceKeepsTheFlag_startsNothingMore() {
        interrupt(() -> inPlace.mapSettled(endless(), 1, element -> {
            try {
                return block(element);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return -1;
            }
        }));
        assertEquals(1, calls.get());
    }

    /** Such an executor also runs elements in place on its own threads, which pull when an element has ended. */
    @Test
    void mapLimit_elementsInPlaceOnThreadsOfThePool_areInterrupted() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        ThreadPoolExecutor one =
                new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new SynchronousQueue<>(), (task, full) -> task.run());
        try {
            BlockedCall<?> call =
                    BlockedCall.parked(() -> Tasks.blocking(one).mapLimit(List.of(0, 1, 2), 1, element -> {
                        if (element > 0) return block(element);
                        go.await();
                        return element;
                    }));
            go.countDown();
            awaitCalls(1);
            call.thread.interrupt();
            assertEquals(0, call.interruption().getSuppressed().length);
            assertEquals(1, calls.get());
            assertNotInterrupted(one, 1);
        } finally {
            one.shutdownNow();
        }
    }

    /** Takes elements of the queue, and waits for further ones. An interrupted iterator sets the flag of its thread. */
    private Iterable<Integer> taking(BlockingQueue<Integer> queue, boolean throwing) {
        return () -> new Iterator<>() {
            @Override
            public boolean hasNext() {
                return true;
            }

            @Override
            public Integer next() {
                try {
                    if (queue.isEmpty()) calls.incrementAndGet();
                    return queue.take();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    if (throwing) throw new IllegalStateException(e);
                    return -1;
                }
            }
        };
    }

    private InterruptedException interruptInTheSource(boolean throwing) throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        BlockingQueue<Integer> queue = new LinkedBlockingQueue<>(List.of(1));
        BlockedCall<?> call =
                BlockedCall.parked(() -> Tasks.blocking(pool).mapSettled(taking(queue, throwing), 1, element -> {
                    assertTrue(element > 0);
                    go.await();
                    return element;
                }));
        go.countDown();
        awaitCalls(1);
        call.thread.interrupt();
        InterruptedException thrown = call.interruption();
        assertNotInterrupted(pool, 4);
        return thrown;
    }

    @Test
    void mapSettled_threadOfThePoolBlocksInTheSource_isInterrupted() throws Exception {
        assertEquals(0, interruptInTheSource(false).getSuppressed().length);
    }

    @Test
    void mapSettled_sourceThrowsWhenInterrupted_isSuppressed() throws Exception {
        Throwable[] suppressed = interruptInTheSource(true).getSuppressed();
        assertEquals(1, suppressed.length);
        assertInstanceOf(IllegalStateException.class, suppressed[0]);
    }
}
