package guide.schedules

import baton.scheduler.JdbcScheduleStore
import baton.scheduler.KeyCodec
import baton.scheduler.Schedule
import baton.scheduler.ScheduleConfig
import baton.scheduler.ScheduleOwnedException
import baton.scheduler.Trigger
import java.nio.file.Path
import java.time.Instant
import java.util.concurrent.ConcurrentLinkedQueue
import javax.sql.DataSource
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import org.h2.jdbcx.JdbcDataSource
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.api.io.TempDir
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ValueSource
import org.sqlite.SQLiteDataSource

/** The Kotlin of docs/schedules.md that needs a database. */
class SchedulesJdbcTest {
    @TempDir lateinit var folder: Path

    @ParameterizedTest
    @ValueSource(strings = ["h2", "sqlite"])
    fun edit_inATransactionOfTheCaller_reachesTheSchedule(database: String) = runBlocking {
        val dataSource = dataSource(database)
        val runs = Channel<String>(Channel.UNLIMITED)
        val store = JdbcScheduleStore(dataSource, KeyCodec.STRING, table = "jobs")
        store.createTables()
        val schedule = Schedule(store, name = "jobs") { due -> runs.send("${due.key}: ${due.text}") }
        val running = launch(Dispatchers.Default) { schedule.run() }
        schedule.resync() // returns when the entries are loaded
        dataSource.connection.use {
            it.createStatement().use { create -> create.execute("CREATE TABLE orders (id INTEGER)") }
        }
        val editor = JdbcScheduleStore(dataSource, KeyCodec.STRING, table = "jobs") // close it when no edit follows
        dataSource.connection.use { connection ->
            connection.autoCommit = false
            connection.createStatement().use { it.execute("INSERT INTO orders VALUES (7)") }
            editor.edit(connection) {
                put("invoice 7", Trigger.at(Instant.now()), data = "order 7".encodeToByteArray())
            }
            connection.commit() // the order and the run of its invoice, or neither
        }
        schedule.resync() // in the program of the schedule: takes the edit at once
        assertEquals("invoice 7: order 7", runs.receive())
        editor.close()
        running.cancelAndJoin()
    }

    @Test
    fun edit_byTheStoreOfTheSchedule_isTakenByTheNextResync() = runBlocking {
        val dataSource = dataSource("h2")
        val runs = Channel<String>(Channel.UNLIMITED)
        val store = JdbcScheduleStore(dataSource, KeyCodec.STRING, "jobs", pollEdits = 1.hours)
        store.createTables()
        val schedule = Schedule(store) { due -> runs.send(due.key) }
        val running = launch(Dispatchers.Default) { schedule.run() }
        schedule.resync()
        dataSource.connection.use { connection ->
            connection.autoCommit = false
            store.edit(connection) { put("invoice 7", Trigger.at(Instant.now())) }
            connection.commit()
        }
        schedule.resync()
        assertEquals("invoice 7", runs.receive())
        running.cancelAndJoin()
    }

    @Test
    fun secondSchedule_onTheSameTables_isRefusedWithTheNameOfTheFirst() = runBlocking {
        val dataSource = dataSource("h2")
        val store = JdbcScheduleStore(dataSource, KeyCodec.STRING, table = "jobs").also { it.createTables() }
        val first = Schedule(store, name = "first") {}
        val running = launch(Dispatchers.Default) { first.run() }
        first.put("a", Trigger.every(1.minutes))
        first.resync()
        val failures = ConcurrentLinkedQueue<Throwable>()
        val config = ScheduleConfig(onFailure = { _, failure -> failures += failure })
        val second = Schedule(JdbcScheduleStore(dataSource, KeyCodec.STRING, table = "jobs"), config = config) {}
        val refusal = assertThrows<ScheduleOwnedException> { second.run() }
        assertTrue("first" in refusal.owner)
        assertTrue(refusal in failures)
        running.cancelAndJoin()
    }

    @Test
    fun restart_afterTheShutdownHook_isFreeAtOnce() = runBlocking {
        val dataSource = dataSource("h2")
        JdbcScheduleStore(dataSource, KeyCodec.STRING, table = "jobs").createTables()
        val first = Schedule(JdbcScheduleStore(dataSource, KeyCodec.STRING, table = "jobs")) {}
        val running = launch(Dispatchers.Default) { first.run() }
        val hook = endWithTheJvm(first)
        assertTrue(Runtime.getRuntime().removeShutdownHook(hook))
        first.put("a", Trigger.every(1.minutes))
        first.resync()
        hook.start() // as at the end of the JVM
        running.join()
        val second = Schedule(JdbcScheduleStore(dataSource, KeyCodec.STRING, table = "jobs")) {}
        val again = launch(Dispatchers.Default) { second.run() }
        second.resync()
        assertEquals(1, second.size)
        again.cancelAndJoin()
    }

    @Test
    fun restart_whileAnotherOwnerIsAlive_waitsUntilItHasEnded() = runBlocking {
        val dataSource = dataSource("h2")
        JdbcScheduleStore(dataSource, KeyCodec.STRING, table = "jobs").createTables()
        val first = Schedule(JdbcScheduleStore(dataSource, KeyCodec.STRING, table = "jobs")) {}
        val running = launch(Dispatchers.Default) { first.run() }
        first.resync()
        val runs = Channel<String>(Channel.UNLIMITED)
        val refused = Channel<Throwable>(Channel.UNLIMITED)
        val config = ScheduleConfig(onFailure = { _, failure -> refused.trySend(failure) })
        val waiting =
            launch(Dispatchers.Default) {
                runOnceFree {
                    val store = JdbcScheduleStore(dataSource, KeyCodec.STRING, table = "jobs")
                    Schedule(store, config = config) { due -> runs.send(due.key) }
                        .apply { put("a", Trigger.at(Instant.EPOCH)) }
                }
            }
        assertTrue(refused.receive() is ScheduleOwnedException)
        running.cancelAndJoin()
        assertEquals("a", runs.receive())
        waiting.cancelAndJoin()
    }

    private fun dataSource(database: String): DataSource =
        if (database == "h2") JdbcDataSource().apply { setURL("jdbc:h2:${folder.resolve("jobs")}") }
        else SQLiteDataSource().apply { url = "jdbc:sqlite:${folder.resolve("jobs.db")}?journal_mode=WAL" }
}
