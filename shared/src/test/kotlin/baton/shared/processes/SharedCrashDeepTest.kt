package baton.shared.processes

import java.nio.file.Path
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir

class SharedCrashDeepTest {
    @TempDir private lateinit var directory: Path

    @Test
    fun mutex_ofProcessesKilled1000Times_announcesEveryTornSection() {
        val crashes = SharedCrashes(directory.resolve("app"), 2)
        crashes.killSections(times = 1000)
        println(crashes)
    }

    @Test
    fun semaphore_ofProcessesKilled300Times_neitherLosesNorDoublesAPermit() {
        val crashes = SharedCrashes(directory.resolve("app"), 4)
        crashes.killPermits(times = 300)
        println(crashes)
    }
}
