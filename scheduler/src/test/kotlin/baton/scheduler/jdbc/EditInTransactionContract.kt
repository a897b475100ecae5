package baton.scheduler.jdbc

import baton.Priority
import baton.scheduler.JdbcScheduleStore
import baton.scheduler.Schedule
import baton.scheduler.ScheduleConfig
import baton.scheduler.Trigger
import baton.scheduler.jdbc.crash.EditingChild
import baton.scheduler.jdbc.databases.H2Database
import baton.scheduler.jdbc.databases.JdbcStoreFixture
import baton.scheduler.jdbc.databases.PostgresDatabase
import baton.scheduler.jdbc.databases.SqliteDatabase
import baton.scheduler.jdbc.databases.TestDatabase
import baton.scheduler.jdbc.databases.entry
import baton.scheduler.jdbc.databases.eventually
import java.nio.file.Path
import java.time.Instant
import java.util.Collections
import java.util.concurrent.TimeUnit
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.api.io.TempDir

/** Edits that are part of a transaction of their caller. */
abstract class EditInTransactionContract {
    @TempDir lateinit var directory: Path

    internal abstract fun database(): TestDatabase

    private val lazyFixture = lazy {
        JdbcStoreFixture(database()).also { it.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY)") }
    }
    internal val fixture by lazyFixture

    private val editor by lazy { fixture.open() }

    @AfterEach fun close() = if (lazyFixture.isInitialized()) fixture.close() else Unit

    private val tomorrow = Trigger.at(Instant.parse("2100-01-01T00:00:00Z"))

    private fun orders() = fixture.number("SELECT COUNT(*) FROM orders")

    private suspend fun rows() =
        fixture.open().run {
            load(0).map { "${it.key} ${it.trigger} ${it.priority} ${it.data?.decodeToString()}" }.also { close() }
        }

    @Test
    fun edits_areTrueWithTheCommit_togetherWithWhatElseItWrites() = runBlocking {
        editor.edit("old", Trigger.every(1.minutes))
        fixture.begin().use { connection ->
            connection.createStatement().use { it.execute("INSERT INTO orders VALUES (1)") }
            editor.edit(connection) {
                put("new", tomorrow, Priority.HIGH, "data ü".encodeToByteArray())
                put("twice", Trigger.every(1.minutes))
                remove("old")
                remove("never there")
                put("twice", Trigger.every(2.minutes))
            }
            assertEquals(false, connection.autoCommit)
            connection.commit()
        }
        assertEquals(setOf("new at 2100-01-01T00:00:00Z HIGH data ü", "twice every PT2M NORMAL null"), rows().toSet())
        assertEquals(1, orders())
    }

    @Test
    fun edits_areGoneWithTheRollback_andTheStoreStillWorks() = runBlocking {
        editor.edit("old", Trigger.every(1.minutes))
        val edits = fixture.number("SELECT COUNT(*) FROM checks_edits")
        fixture.begin().use { connection ->
            connection.createStatement().use { it.execute("INSERT INTO orders VALUES (1)") }
            editor.edit(connection) {
                put("new", tomorrow)
                remove("old")
            }
            connection.rollback()
        }
        assertEquals(listOf("old every PT1M NORMAL null"), rows())
        assertEquals(0, orders())
        assertEquals(edits, fixture.number("SELECT COUNT(*) FROM checks_edits"))
        editor.edit("later", Trigger.every(1.minutes))
        assertEquals(2, rows().size)
    }

    @Test
    fun block_thatThrows_writesNothing() = runBlocking {
        fixture.begin().use { connection ->
            assertThrows<IllegalStateException> {
                editor.edit(connection) {
                    put("a", tomorrow)
                    error("no")
                }
            }
            assertThrows<IllegalArgumentException> { editor.edit(connection) { put("a", { it.plusSeconds(1) }) } }
            assertThrows<IllegalArgumentException> {
                editor.edit(connection) { put("a", tomorrow, data = ByteArray(65_537)) }
            }
            assertThrows<IllegalArgumentException> { editor.edit(connection) { put("x".repeat(2_001), tomorrow) } }
            editor.edit(connection) {}
            connection.commit()
        }
        assertEquals(emptyList<String>(), rows())
    }

    @Test
    fun connection_inAutoCommitMode_isRefused() = runBlocking {
        val refusal =
            assertThrows<IllegalArgumentException> {
                fixture.database.connect().use { editor.edit(it) { put("a", tomorrow) } }
            }
        assertEquals("connection is in auto-commit mode, must be in a transaction", refusal.message)
        assertEquals(emptyList<String>(), rows())
    }

    @Test
    fun tables_ofAnotherVersion_areRefused_byEachCall() = runBlocking {
        fixture.execute("UPDATE checks_owner SET version = 7")
        val calls =
            listOf<suspend (JdbcScheduleStore<String>) -> Unit>(
                { it.load(0) },
                { it.apply(listOf(entry("a"))) },
                { it.own("test", 1.minutes) },
                { it.edit("a", tomorrow) },
                { store -> fixture.begin().use { store.edit(it) { put("a", tomorrow) } } },
                { it.createTables() },
            )
        for (call in calls) {
            val refusal = assertThrows<IllegalStateException> { runBlocking { call(fixture.open()) } }
            assertEquals(
                "the tables of checks have version 7, and only 1 is known: create them anew by createTables, under " +
                    "another name",
                refusal.message,
            )
        }
        fixture.execute("ALTER TABLE checks_owner DROP COLUMN version")
        val refusal = assertThrows<IllegalStateException> { runBlocking { fixture.open().load(0) } }
        assertTrue(refusal.message!!.startsWith("the tables of checks have version 0"), refusal.message)
    }

    /** The commit alone makes the edit true, and the running schedule finds it as any other. */
    @Test
    fun runningSchedule_takesOverTheEdit_afterTheCommit() = runBlocking {
        val fired = Collections.synchronizedList(ArrayList<String>())
        val store = fixture.openOnIo()
        val schedule =
            Schedule(store, config = ScheduleConfig(flushEvery = 1.hours)) { fired += "${it.key} ${it.text}" }
        schedule.put("removed", Trigger.every(1.hours))
        schedule.flush()
        val running = launch { schedule.run() }
        schedule.resync()
        fixture.begin().use { connection ->
            editor.edit(connection) {
                put("now", Trigger.at(Instant.EPOCH), data = "from the transaction".encodeToByteArray())
                remove("removed")
            }
            delay(300.milliseconds)
            assertEquals(emptyList<String>(), fired)
            assertEquals(1, schedule.size)
            connection.commit()
        }
        eventually { fired.isNotEmpty() && schedule.size == 0 }
        assertEquals(listOf("now from the transaction"), fired)
        running.cancelAndJoin()
    }

    /** The schedule has written the row since: its own due time, in a greater revision than that of the edit. */
    @Test
    fun row_thatTheScheduleHasWritten_isReplaced() = runBlocking {
        val schedule = fixture.open()
        schedule.own("test", 1.minutes)
        schedule.apply(listOf(entry("a", "delay PT1M")))
        fixture.execute("UPDATE checks SET revision = ${fixture.number("SELECT MAX(revision) FROM checks") + 5}")
        fixture.begin().use { connection ->
            editor.edit(connection) { put("a", tomorrow) }
            connection.commit()
        }
        assertEquals(listOf("a at 2100-01-01T00:00:00Z NORMAL null"), rows())
    }

    @Test
    fun lastRun_ofTheRow_staysWithAnEdit() = runBlocking {
        val schedule = fixture.open()
        schedule.apply(listOf(entry("a")))
        fixture.execute("UPDATE checks SET last_run = '2026-11-30T10:00:00Z', last_outcome = 'FAILED'")
        editor.edit("a", Trigger.every(5.minutes), data = byteArrayOf(1))
        val row = fixture.open().load(0).single()
        assertEquals(
            "every PT5M 2026-11-30T10:00:00Z FAILED 1",
            row.run { "$trigger $lastRun $lastOutcome ${data?.size}" },
        )
    }

    internal fun assertEditOfAKilledProcess(afterCommit: Boolean) {
        editor
        val child = EditingChild.start(fixture.database.url, if (afterCommit) "commit" else "edit")
        try {
            child.inputReader().use { output ->
                while (true) {
                    val line = output.readLine() ?: error("the child has ended by itself: ${child.waitFor()}")
                    if (line == "done") break
                }
            }
        } finally {
            child.toHandle().destroyForcibly()
        }
        assertTrue(child.waitFor(2, TimeUnit.MINUTES))
        runBlocking {
            // The server may see the end of the connection late.
            eventually { orders() == if (afterCommit) 1L else 0L }
            assertEquals(if (afterCommit) listOf("a at 2100-01-01T00:00:00Z NORMAL child") else emptyList(), rows())
            editor.edit("a", Trigger.every(1.minutes))
        }
    }
}

class H2EditInTransactionTest : EditInTransactionContract() {
    override fun database() = H2Database(directory)
}

class SqliteEditInTransactionTest : EditInTransactionContract() {
    override fun database() = SqliteDatabase(directory)

    @Test fun process_killedBeforeItsCommit_hasEditedNothing() = assertEditOfAKilledProcess(afterCommit = false)

    @Test fun process_killedAfterItsCommit_hasEdited() = assertEditOfAKilledProcess(afterCommit = true)
}

class PostgresEditInTransactionTest : EditInTransactionContract() {
    override fun database() = PostgresDatabase()

    @Test fun process_killedBeforeItsCommit_hasEditedNothing() = assertEditOfAKilledProcess(afterCommit = false)

    @Test fun process_killedAfterItsCommit_hasEdited() = assertEditOfAKilledProcess(afterCommit = true)
}
