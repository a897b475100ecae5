package baton.scheduler.journal

import baton.scheduler.JournalScheduleStore
import baton.scheduler.KeyCodec
import baton.scheduler.ScheduleRow
import baton.scheduler.ScheduleStore
import baton.scheduler.schedule.ScheduleStoreContract
import java.nio.file.Path
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.io.TempDir

/** Each test has a journal of its own. */
class JournalScheduleStoreContractTest : ScheduleStoreContract() {
    @TempDir lateinit var directory: Path
    private val stores = ArrayList<ScheduleStore<String>>()

    override fun open(): ScheduleStore<String> =
        Blocking(JournalScheduleStore(directory.resolve("checks.journal"), KeyCodec.STRING, fsync = false))
            .also(stores::add)

    @AfterEach fun close() = runBlocking { stores.forEach { it.close() } }

    /** The file operations run on other threads: virtual time must not pass meanwhile. */
    private class Blocking(private val store: ScheduleStore<String>) : ScheduleStore<String> by store {
        override suspend fun load(since: Long): List<ScheduleRow<String>> = runBlocking { store.load(since) }

        override suspend fun apply(rows: List<ScheduleRow<String>>): Long = runBlocking { store.apply(rows) }

        override suspend fun isPaused(): Boolean = runBlocking { store.isPaused() }

        override suspend fun setPaused(isPaused: Boolean) = runBlocking { store.setPaused(isPaused) }

        override suspend fun close() = runBlocking { store.close() }
    }
}
