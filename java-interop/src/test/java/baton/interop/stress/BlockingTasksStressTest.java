package baton.interop.stress;

import static baton.interop.blocking.BlockedCall.assertNotInterrupted;

import baton.interop.BlockingTasks;
import baton.interop.Tasks;
import baton.interop.blocking.BlockedCall;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Blocking maps whose caller is interrupted at any moment. */
@Timeout(300)
class BlockingTasksStressTest {
    private final ExecutorService pool = Executors.newFixedThreadPool(2);

    @AfterEach
    void shutDown() {
        pool.shutdownNow();
    }

    /** Each call throws, and no thread of the pool stays interrupted. */
    @Test
    void interrupts_atAnyMoment_areNeitherLostNorLeftOver() throws Exception {
        for (int round = 0; round < 100; round++) {
            BlockingTasks tasks = Tasks.blocking(round % 2 == 0 ? Runnable::run : pool);
            AtomicInteger elements = new AtomicInteger();
            Iterable<Integer> endless = () -> Stream.iterate(0, i -> i + 1).iterator();
            BlockedCall<?> call = BlockedCall.started(() -> tasks.mapSettled(endless, 2, element -> {
                elements.incrementAndGet();
                if (element % 32 == 0) Thread.sleep(0, 1);
                return element;
            }));
            while (elements.get() < round) Thread.onSpinWait();
            call.thread.interrupt();
            call.interruption();
        }
        assertNotInterrupted(pool, 4);
    }
}
