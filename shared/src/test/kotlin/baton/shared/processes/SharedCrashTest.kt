package baton.shared.processes

import java.nio.file.Path
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir

/** The run of 1,000 kills is in [SharedCrashDeepTest]. */
class SharedCrashTest {
    @TempDir private lateinit var directory: Path

    @Test
    fun mutex_ofProcessesKilled20Times_announcesEveryTornSection() {
        val crashes = SharedCrashes(directory.resolve("app"), 1)
        crashes.killSections(times = 20)
        println(crashes)
    }

    @Test
    fun semaphore_ofProcessesKilled5Times_neitherLosesNorDoublesAPermit() {
        val crashes = SharedCrashes(directory.resolve("app"), 3)
        crashes.killPermits(times = 5)
        println(crashes)
    }
}
