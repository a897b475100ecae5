package baton.test

import baton.scheduler.InMemoryScheduleStore
import baton.scheduler.JdbcScheduleStore
import baton.scheduler.JournalScheduleStore
import baton.scheduler.KeyCodec
import baton.scheduler.ScheduleStore
import java.nio.file.Path
import java.util.UUID
import kotlinx.coroutines.runBlocking
import org.h2.jdbcx.JdbcDataSource
import org.junit.jupiter.api.BeforeEach
import org.junit.jupiter.api.io.TempDir

/** Our own stores pass the contract for those of others. */
class InMemoryScheduleStoreContractTest : ScheduleStoreContract() {
    private val store = InMemoryScheduleStore<String>()

    override fun open(): ScheduleStore<String> = store
}

class FakeScheduleStoreContractTest : ScheduleStoreContract() {
    private val store = FakeScheduleStore<String>()

    override fun open(): ScheduleStore<String> = store
}

class JournalScheduleStoreContractTest : ScheduleStoreContract() {
    @TempDir lateinit var directory: Path

    override fun open(): ScheduleStore<String> =
        JournalScheduleStore(directory.resolve("checks.journal"), KeyCodec.STRING, fsync = false)
}

class JdbcScheduleStoreContractTest : ScheduleStoreContract() {
    private val source = JdbcDataSource().apply { setURL("jdbc:h2:mem:${UUID.randomUUID()};DB_CLOSE_DELAY=-1") }

    @BeforeEach fun createTables() = runBlocking { open().run { createTables().also { close() } } }

    override fun open(): JdbcScheduleStore<String> = JdbcScheduleStore(source, KeyCodec.STRING, table = "checks")
}
