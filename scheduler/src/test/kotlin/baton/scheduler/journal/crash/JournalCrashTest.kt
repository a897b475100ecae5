package baton.scheduler.journal.crash

import java.nio.file.Path
import org.junit.jupiter.api.io.TempDir
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ValueSource

/** The run of 200 kills is in [JournalCrashDeepTest]. */
class JournalCrashTest {
    @TempDir private lateinit var directory: Path

    @ParameterizedTest
    @ValueSource(ints = [1, 2])
    fun journal_ofAProcessKilledAtAnyTime_losesNothingConfirmed(number: Int) {
        JournalCrashes(directory.resolve("checks.journal"), number).kill(times = 5)
    }
}
