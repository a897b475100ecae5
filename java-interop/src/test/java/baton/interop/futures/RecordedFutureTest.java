package baton.interop.futures;

import static org.junit.jupiter.api.Assertions.assertEquals;

import baton.interop.AsyncSemaphore;
import baton.interop.Futures;
import baton.interop.Permit;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The waits of futures in a recording of the JDK Flight Recorder. */
@Timeout(300)
class RecordedFutureTest {
    @TempDir
    private Path folder;

    @Test
    void waitsOfFutures_areRecorded_withTheirOutcomes_andRequestsThatDidNotWaitAreNot() throws Exception {
        List<String> seen = List.of();
        try (Recording recording = new Recording()) {
            recording.enable("baton.Wait").withThreshold(Duration.ZERO);
            recording.start();
            AsyncSemaphore semaphore = AsyncSemaphore.create(1, "uplink");
            Permit held = Futures.await(semaphore.acquire());
            CompletableFuture<Permit> cancelled = semaphore.acquire();
            CompletableFuture<Permit> granted = semaphore.acquire();
            // A time that is over before the caller waits leaves no wait to record.
            Futures.awaitFailure(semaphore.acquire(1, Duration.ofMillis(200)));
            cancelled.cancel(false);
            held.close();
            Futures.await(granted).close();
            // The thread that ends a wait records it, which may be after its caller has seen the end.
            long start = System.nanoTime();
            while (seen.size() < 3 && System.nanoTime() - start < TimeUnit.MINUTES.toNanos(2))
                seen = waitsOf(recording);
        }
        assertEquals(
                List.of(
                        "Semaphore 'uplink' acquire cancelled",
                        "Semaphore 'uplink' acquire granted",
                        "Semaphore 'uplink' acquire timed out"),
                seen);
    }

    private List<String> waitsOf(Recording recording) throws IOException {
        Path file = folder.resolve("waits.jfr");
        recording.dump(file);
        return RecordingFile.readAllEvents(file).stream()
                .filter(event -> event.getEventType().getName().equals("baton.Wait"))
                .map(event ->
                        event.getString("primitive") + " " + event.getString("call") + " " + event.getString("outcome"))
                .sorted()
                .toList();
    }
}
