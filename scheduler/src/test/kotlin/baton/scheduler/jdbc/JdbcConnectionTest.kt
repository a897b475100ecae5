package baton.scheduler.jdbc

import baton.scheduler.JdbcScheduleStore
import baton.scheduler.KeyCodec
import baton.scheduler.Trigger
import baton.scheduler.jdbc.databases.H2Database
import baton.scheduler.jdbc.databases.PostgresDatabase
import baton.scheduler.jdbc.databases.SmallPool
import baton.scheduler.jdbc.databases.SqliteDatabase
import baton.scheduler.jdbc.databases.TestDatabase
import java.nio.file.Path
import java.sql.Connection
import java.sql.SQLException
import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicInteger
import javax.sql.DataSource
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.api.io.TempDir

/** Connections come from a pool, and all of them go back, whatever happens. */
class JdbcConnectionTest {
    @TempDir private lateinit var directory: Path

    private val everyMinute = Trigger.every(1.minutes)

    private fun store(source: DataSource, table: String = "checks") =
        JdbcScheduleStore(source, KeyCodec.STRING, table, 20.milliseconds)

    private fun test(database: TestDatabase, size: Int = 5, block: suspend (SmallPool) -> Unit) {
        database.use {
            val pool = SmallPool(it.source, size)
            runBlocking { withTimeout(2.minutes) { block(pool) } }
            assertEquals(0, pool.open)
        }
    }

    @Test
    fun rollback_throwsAnyException_connectionIsClosed_andTheFirstFailureIsThrown() =
        test(H2Database(directory)) { pool ->
            val store = store(pool).also { it.createTables() }
            for (ofRollback in
                listOf(IllegalStateException("driver"), SQLException("driver"), AssertionError("driver"))) {
                pool.fails = { method, _ ->
                    when (method) {
                        "prepareStatement" -> IllegalStateException("statement")
                        "rollback" -> ofRollback
                        else -> null
                    }
                }
                val failure = assertThrows<IllegalStateException> { runBlocking { store.edit("a", everyMinute) } }
                assertEquals("statement", failure.message)
                assertEquals(0, pool.open)
            }
            pool.fails = { method, _ -> IllegalStateException("same").takeIf { method == "createStatement" } }
            assertThrows<IllegalStateException> { runBlocking { store.edit("a", everyMinute) } }
            assertEquals(0, pool.open)
            pool.fails = { _, _ -> null }
            store.edit("a", everyMinute)
            store.close()
        }

    @Test
    fun rollback_fails_halfAnEditIsNotCommitted() =
        test(H2Database(directory)) { pool ->
            val store = store(pool).also { it.createTables() }
            pool.fails = { method, argument ->
                when {
                    method == "rollback" -> SQLException("rollback")
                    method == "prepareStatement" && "INTO checks_edits" in "$argument" -> SQLException("statement")
                    else -> null
                }
            }
            assertThrows<SQLException> { runBlocking { store.edit("a", everyMinute) } }
            pool.fails = { _, _ -> null }
            assertEquals(emptyList<Any>(), store.load(0))
            store.close()
        }

    @Test
    fun edits_needOneConnection_onH2AndSqlite() {
        for (database in listOf(H2Database(directory), SqliteDatabase(directory))) {
            test(database, size = 1) { pool ->
                val store = store(pool).also { it.createTables() }
                val other = store(database.source)
                // The edit is before the poll, or after the beginning of the flow.
                other.edit("a", everyMinute)
                val edits = runBlocking {
                    val found = async { store.edits().first() }
                    val editing = launch {
                        while (!found.isCompleted) {
                            other.edit("a", everyMinute)
                            kotlinx.coroutines.delay(20.milliseconds)
                        }
                    }
                    found.await().also { editing.join() }
                }
                assertEquals("a", edits.single().key)
                store.close()
                other.close()
            }
        }
    }

    @Test
    fun load_ofWhatIsNew_afterClose_opensNoConnection() =
        test(H2Database(directory)) { pool ->
            val store = store(pool).also { it.createTables() }
            store.load(0)
            store.close()
            assertThrows<IllegalStateException> { runBlocking { store.load(1) } }
            assertEquals(0, pool.open)
            store.load(0)
            store.close()
        }

    @Test
    fun edits_areCancelledWhileTheConnectionThatListensOpens_itIsClosed() =
        test(PostgresDatabase()) { pool ->
            val store = store(pool).also { it.createTables() }
            val isOpening = CountDownLatch(1)
            val mayOpen = CountDownLatch(1)
            val count = AtomicInteger()
            pool.onGet = {
                if (count.incrementAndGet() == 2) {
                    isOpening.countDown()
                    mayOpen.await()
                }
            }
            runBlocking {
                val collection = launch(Dispatchers.IO) { store.edits().collect {} }
                isOpening.await()
                collection.cancel()
                mayOpen.countDown()
            }
            store.close()
        }

    @Test
    fun createTables_byManyProgramsAtOnce_allSucceed() {
        for (database in listOf(H2Database(directory), SqliteDatabase(directory), PostgresDatabase())) {
            database.use {
                repeat(3) { round ->
                    runBlocking(Dispatchers.IO) {
                        val stores = List(8) { store(database.source, "checks$round") }
                        stores.map { async { it.createTables() } }.awaitAll()
                        for (store in stores) assertEquals(emptyList<Any>(), store.load(0)).also { store.close() }
                    }
                }
            }
        }
    }

    @Test
    fun createTables_whereOnlyASchemaWithALikeNameHasThem_createsThem() {
        for (database in listOf(H2Database(directory), PostgresDatabase())) {
            database.use {
                val like = "like1_${database.hashCode()}"
                val own = "like__${database.hashCode()}"
                for (name in listOf(like, own)) execute(database, "CREATE SCHEMA $name")
                runBlocking {
                    for (name in listOf(like, own)) {
                        val store = store(inSchema(database, name)).also { it.createTables() }
                        store.edit(name, everyMinute)
                        assertEquals(listOf(name), store.load(0).map { it.key })
                        store.close()
                    }
                }
                for (name in listOf(like, own)) execute(database, "DROP SCHEMA $name CASCADE")
            }
        }
    }

    private fun execute(database: TestDatabase, sql: String) {
        database.connect().use { connection -> connection.createStatement().use { it.execute(sql) } }
    }

    private fun inSchema(database: TestDatabase, name: String) =
        object : DataSource by database.source {
            override fun getConnection(): Connection =
                database.connect().also { it.schema = if (database is H2Database) name.uppercase() else name }
        }

    @Test
    fun owner_nameHasOddCharacters_works_onEachDatabase() {
        for (database in listOf(H2Database(directory), SqliteDatabase(directory), PostgresDatabase())) {
            test(database) { pool ->
                val store = store(pool).also { it.createTables() }
                for (name in
                    listOf(
                        "",
                        "a\u0000b",
                        "\uD83D",
                        "x" + "\uD83D\uDE00".repeat(300),
                        "'; DROP TABLE checks; --",
                    )) assertTrue(store.own(name, 1.seconds))
                store.close()
            }
        }
    }
}
