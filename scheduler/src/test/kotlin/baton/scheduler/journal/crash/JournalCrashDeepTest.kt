package baton.scheduler.journal.crash

import java.nio.file.Path
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir

class JournalCrashDeepTest {
    @TempDir private lateinit var directory: Path

    @Test
    fun journal_ofAProcessKilled200Times_losesNothingConfirmed() {
        val crashes = JournalCrashes(directory.resolve("checks.journal"), 3)
        crashes.kill(times = 200)
        println(crashes)
    }
}
