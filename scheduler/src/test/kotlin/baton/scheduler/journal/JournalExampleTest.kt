package baton.scheduler.journal

import baton.scheduler.JournalScheduleStore
import baton.scheduler.KeyCodec
import java.nio.file.Path
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir

/** The example in the documentation of the store. */
class JournalExampleTest {
    @TempDir private lateinit var directory: Path
    private val printed = mutableListOf<String>()

    private fun println(line: String) {
        printed += line
    }

    @Test
    fun journalScheduleStore_example_showsWhatAScheduleHasLeft() = runBlocking {
        val path = directory.resolve("checks.journal")
        JournalScheduleStore(path, KeyCodec.STRING).run { apply(listOf(row("a", due = 60))).also { close() } }

        val store = JournalScheduleStore(path, KeyCodec.STRING)
        for (row in store.load(since = 0)) println("${row.key}: ${row.trigger}, next due ${row.nextDue}")
        store.close()

        assertEquals(listOf("a: every PT2M, next due 1970-01-01T00:01:00Z"), printed)
    }
}
