package baton.interop.futures;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import baton.interop.AsyncChannel;
import baton.interop.AsyncMutex;
import baton.interop.AsyncSemaphore;
import baton.interop.BlockingChannel;
import baton.interop.BlockingMutex;
import baton.interop.BlockingSemaphore;
import baton.interop.Permit;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs only on a JDK with virtual threads. */
class VirtualThreadTest {
    private static final int WARM_UP = 100;

    @TempDir
    private Path directory;

    private static Thread start(Runnable task) throws ReflectiveOperationException {
        return (Thread)
                Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
    }

    private interface Work {
        void run() throws Exception;
    }

    /** Runs the work on many virtual threads, which all wait until {@code isQueued}; none of them pins its carrier. */
    private void runOnAll(int threads, Work work, BooleanSupplier isQueued, Runnable open) throws Exception {
        Path file = directory.resolve("pinned.jfr");
        List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
        try (Recording recording = new Recording()) {
            recording
                    .enable("jdk.VirtualThreadPinned")
                    .withThreshold(Duration.ZERO)
                    .withStackTrace();
            recording.start();
            List<Thread> started = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                started.add(start(() -> {
                    try {
                        work.run();
                    } catch (Throwable e) {
                        failures.add(e);
                    }
                }));
            }
            while (!isQueued.getAsBoolean() && failures.isEmpty()) Thread.onSpinWait();
            open.run();
            for (Thread thread : started) thread.join(120_000);
            recording.stop();
            recording.dump(file);
        }
        assertEquals(List.of(), failures);
        if (threads > WARM_UP) assertEquals(List.of(), pinnedByUs(file));
        Files.delete(file);
    }

    private interface Scenario {
        void run(int threads) throws Exception;
    }

    /** Twice: the JVM pins threads that wait while another one loads and links a class. */
    private void runTwice(int threads, Scenario scenario) throws Exception {
        assumeTrue(Runtime.version().feature() >= 21, "no virtual threads");
        scenario.run(WARM_UP);
        scenario.run(threads);
    }

    @Test
    void join_onAThousandVirtualThreads_letsAllThroughAndPinsNone() throws Exception {
        runTwice(1_000, this::join);
    }

    private void join(int threads) throws Exception {
        AsyncSemaphore semaphore = AsyncSemaphore.create(3);
        AsyncMutex mutex = AsyncMutex.create();
        int[] guarded = {0};
        Permit first = semaphore.acquire(3).join();
        Work work = () -> {
            try (Permit permit = semaphore.acquire().join();
                    Permit lock = mutex.lock().join()) {
                if (permit.isHeld() && lock.isHeld()) guarded[0]++;
            }
        };
        runOnAll(threads, work, () -> semaphore.waiting() == threads, first::close);
        assertEquals(threads, guarded[0]);
        assertEquals(3, semaphore.availablePermits());
    }

    /** A tenth is interrupted while it waits, and a tenth gives up. */
    @Test
    void blocking_onTenThousandVirtualThreads_pinsNoneAndLosesNothing() throws Exception {
        runTwice(10_000, this::block);
    }

    private void block(int threads) throws Exception {
        AsyncSemaphore semaphore = AsyncSemaphore.create(3);
        BlockingSemaphore blocking = semaphore.blocking();
        BlockingMutex mutex = AsyncMutex.create().blocking();
        AsyncChannel<Integer> results = AsyncChannel.create(threads);
        BlockingChannel<Integer> channel = results.blocking();
        AtomicInteger turn = new AtomicInteger();
        int[] guarded = {0};
        Permit first = blocking.acquire(3);
        Queue<Thread> interruptible = new ConcurrentLinkedQueue<>();
        Work work = () -> {
            int mine = turn.getAndIncrement();
            if (mine % 10 == 1) interruptible.add(Thread.currentThread());
            Duration patience = mine % 10 == 2 ? Duration.ofMillis(500) : Duration.ofMinutes(1);
            try (Permit permit = blocking.acquire(patience)) {
                mutex.call(() -> guarded[0]++);
                if (permit.isHeld()) channel.send(mine);
            } catch (InterruptedException | TimeoutException e) {
                channel.send(-1);
            }
        };
        runOnAll(threads, work, () -> semaphore.waiting() + results.size() == threads, () -> {
            interruptible.forEach(Thread::interrupt);
            while (results.size() < threads / 5) Thread.onSpinWait();
            first.close();
        });
        int served = 0;
        for (int i = 0; i < threads; i++) if (channel.receive() >= 0) served++;
        assertEquals(threads - threads / 5, served);
        assertEquals(served, guarded[0]);
        assertEquals("3 0", semaphore.availablePermits() + " " + semaphore.waiting());
    }

    private static List<String> pinnedByUs(Path file) throws Exception {
        List<String> found = new ArrayList<>();
        for (RecordedEvent event : RecordingFile.readAllEvents(file)) {
            if (!event.getEventType().getName().equals("jdk.VirtualThreadPinned") || event.getStackTrace() == null) {
                continue;
            }
            List<RecordedFrame> frames = event.getStackTrace().getFrames();
            // The JVM pins a thread while it loads a class.
            if (typeOf(frames.get(0)).startsWith("jdk.internal.loader.")) continue;
            for (RecordedFrame frame : frames) {
                String name = typeOf(frame);
                if (name.startsWith("baton.") && !name.contains("Test")) found.add(event.toString());
            }
        }
        return found;
    }

    private static String typeOf(RecordedFrame frame) {
        return frame.getMethod().getType().getName();
    }
}
