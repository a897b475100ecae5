package baton.interop.deadlock;

import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncSemaphore;
import baton.interop.BlockingSemaphore;
import baton.monitoring.Deadlocks;
import baton.monitoring.Waits;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Tag("jdk")
@Timeout(120)
class ThreadNamesDeadlockTest {
    static {
        // Read once in a JVM: run alone, this test turns the notes on by itself.
        System.setProperty("baton.deadlocks", "true");
    }

    /** Without a name: a virtual thread where there are some. */
    private static Thread start(Runnable task) throws ReflectiveOperationException {
        try {
            return (Thread)
                    Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
        } catch (NoSuchMethodException before21) {
            Thread thread = new Thread(task, "");
            thread.start();
            return thread;
        }
    }

    private static void acquireAndPark(BlockingSemaphore semaphore) {
        try {
            semaphore.acquire();
            new CountDownLatch(1).await();
        } catch (InterruptedException ended) {
            // the test has ended
        }
    }

    private static String numberOf(Thread thread) {
        return thread.toString().split("/", 2)[0];
    }

    @Test
    void dump_ofThreadsWithoutAName_namedNone() throws Exception {
        assertTrue(Deadlocks.isEnabled());
        AsyncSemaphore semaphore = AsyncSemaphore.create(1, "unnamed threads");
        BlockingSemaphore blocking = semaphore.blocking();
        Thread holder = start(() -> acquireAndPark(blocking));
        while (semaphore.availablePermits() > 0) LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
        Thread waiter = start(() -> acquireAndPark(blocking));
        while (semaphore.waiting() == 0) LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
        String text = Stream.of(Waits.dump().split("\n\n"))
                .filter(lines -> lines.startsWith("Semaphore 'unnamed threads'"))
                .findFirst()
                .orElseThrow();
        assertTrue(text.contains("\n  acquire by " + numberOf(waiter) + " for "), text);
        assertTrue(text.contains("\n  held by thread '" + numberOf(holder) + "' for "), text);
        for (Thread thread : new Thread[] {holder, waiter}) {
            thread.interrupt();
            thread.join();
        }
    }
}
