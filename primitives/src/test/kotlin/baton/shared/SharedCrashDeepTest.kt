package baton.shared

import java.nio.file.Path
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir

class SharedCrashDeepTest {
    @TempDir private lateinit var directory: Path

    @Test
    fun mutex_ofProcessesKilled1000Times_announcesEveryTornSection() {
        val crashes = SharedCrashes(directory.resolve("app"), 2)
        crashes.kill(times = 1000)
        println(crashes)
    }
}
