package baton.interop.futures;

import static org.junit.jupiter.api.Assertions.assertEquals;

import baton.interop.AsyncSemaphore;
import baton.interop.Futures;
import baton.interop.Permit;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
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
        Path file = folder.resolve("waits.jfr");
        try (Recording recording = new Recording()) {
            recording.enable("baton.Wait").withThreshold(Duration.ZERO);
            recording.start();
            AsyncSemaphore semaphore = AsyncSemaphore.create(1, "uplink");
            Permit held = Futures.await(semaphore.acquire());
            CompletableFuture<Permit> cancelled = semaphore.acquire();
            CompletableFuture<Permit> granted = semaphore.acquire();
            Futures.awaitFailure(semaphore.acquire(1, Duration.ofMillis(1)));
            cancelled.cancel(false);
            held.close();
            Futures.await(granted).close();
            recording.stop();
            recording.dump(file);
        }
        List<String> seen = RecordingFile.readAllEvents(file).stream()
                .filter(event -> event.getEventType().getName().equals("baton.Wait"))
                .map(event ->
                        event.getString("primitive") + " " + event.getString("call") + " " + event.getString("outcome"))
                .sorted()
                .toList();
        assertEquals(
                List.of(
                        "Semaphore 'uplink' acquire cancelled",
                        "Semaphore 'uplink' acquire granted",
                        "Semaphore 'uplink' acquire timed out"),
                seen);
    }
}
