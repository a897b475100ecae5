package baton.interop.futures;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import baton.interop.AsyncMutex;
import baton.interop.AsyncSemaphore;
import baton.interop.Permit;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs only on a JDK with virtual threads. */
class VirtualThreadTest {
    private static final int MANY = 1_000;

    @TempDir
    private Path directory;

    private static Thread start(Runnable task) throws ReflectiveOperationException {
        return (Thread)
                Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
    }

    @Test
    void join_onAThousandVirtualThreads_letsAllThroughAndPinsNone() throws Exception {
        assumeTrue(Runtime.version().feature() >= 21, "no virtual threads");
        AsyncSemaphore semaphore = AsyncSemaphore.create(3);
        AsyncMutex mutex = AsyncMutex.create();
        AtomicInteger through = new AtomicInteger();
        int[] guarded = {0};
        Path file = directory.resolve("pinned.jfr");
        try (Recording recording = new Recording()) {
            recording
                    .enable("jdk.VirtualThreadPinned")
                    .withThreshold(Duration.ZERO)
                    .withStackTrace();
            recording.start();
            Permit first = semaphore.acquire(3).join();
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < MANY; i++) {
                threads.add(start(() -> {
                    try (Permit permit = semaphore.acquire().join();
                            Permit lock = mutex.lock().join()) {
                        guarded[0]++;
                        if (permit.isHeld() && lock.isHeld()) through.incrementAndGet();
                    }
                }));
            }
            while (semaphore.waiting() < MANY) Thread.onSpinWait();
            first.close();
            for (Thread thread : threads) thread.join(30_000);
            recording.stop();
            recording.dump(file);
        }
        assertEquals(MANY, through.get());
        assertEquals(MANY, guarded[0]);
        assertEquals(3, semaphore.availablePermits());
        assertEquals(List.of(), pinnedByUs(file));
        Files.delete(file);
    }

    private static List<String> pinnedByUs(Path file) throws Exception {
        List<String> found = new ArrayList<>();
        for (RecordedEvent event : RecordingFile.readAllEvents(file)) {
            if (!event.getEventType().getName().equals("jdk.VirtualThreadPinned") || event.getStackTrace() == null) {
                continue;
            }
            for (RecordedFrame frame : event.getStackTrace().getFrames()) {
                String name = frame.getMethod().getType().getName();
                if (name.startsWith("baton.") && !name.contains("Test")) found.add(event.toString());
            }
        }
        return found;
    }
}
