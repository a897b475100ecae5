package baton.scheduler.journal

import baton.scheduler.JournalScheduleStore
import baton.scheduler.KeyCodec
import baton.scheduler.ScheduleStore
import java.nio.file.Path
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.io.TempDir

/** Stores of one journal in a directory of its own. */
internal abstract class JournalStoreFixture {
    @TempDir protected lateinit var directory: Path
    protected val path: Path
        get() = directory.resolve("checks.journal")

    protected val stores = mutableListOf<ScheduleStore<*>>()

    protected fun open(file: Path = path): JournalScheduleStore<String> =
        JournalScheduleStore(file, KeyCodec.STRING, fsync = false).also(stores::add)

    @AfterEach fun close() = runBlocking { stores.forEach { it.close() } }

    protected suspend fun JournalScheduleStore<String>.keys(since: Long = 0) = load(since).map { it.key }.toSet()
}
