package guide.tasks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncSharedRegion;
import baton.interop.AsyncSharedSemaphore;
import baton.shared.SharedPermit;
import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Two processes share three licences; a process that is killed gives its licences back. */
@Timeout(120)
class LicencesTest {
    @TempDir
    Path folder;

    @Test
    void licencesOfAKilledProcess_comeBack() throws Exception {
        Path file = folder.resolve("machine");
        Process other = new ProcessBuilder(
                        new File(System.getProperty("java.home"), "bin/java").getPath(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Licences.class.getName(),
                        file.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (AsyncSharedRegion region = AsyncSharedRegion.open(file);
                BufferedReader output =
                        new BufferedReader(new InputStreamReader(other.getInputStream(), StandardCharsets.UTF_8))) {
            assertEquals("has 3 licences", output.readLine());
            AsyncSharedSemaphore licences = Licences.of(region);
            assertTrue(licences.tryAcquire().isEmpty());
            other.destroyForcibly(); // as kill -9
            try (SharedPermit mine = licences.acquire(1, Duration.ofMinutes(1)).join()) {
                assertEquals(1, mine.getPermits());
                assertEquals(2, licences.availablePermits());
            }
        } finally {
            other.destroyForcibly().waitFor();
        }
    }
}
