package baton.shared

import java.nio.file.Path
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir

/** The run of 1,000 kills is in [SharedCrashDeepTest]. */
class SharedCrashTest {
    @TempDir private lateinit var directory: Path

    @Test
    fun mutex_ofProcessesKilled50Times_announcesEveryTornSection() {
        val crashes = SharedCrashes(directory.resolve("app"), 1)
        crashes.kill(times = 50)
        println(crashes)
    }
}
