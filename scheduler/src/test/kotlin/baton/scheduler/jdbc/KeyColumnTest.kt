package baton.scheduler.jdbc

import baton.scheduler.JdbcScheduleStore
import baton.scheduler.KeyCodec
import baton.scheduler.Trigger
import baton.scheduler.jdbc.databases.H2Database
import baton.scheduler.jdbc.databases.PostgresDatabase
import baton.scheduler.jdbc.databases.SqliteDatabase
import baton.scheduler.jdbc.databases.TestDatabase
import baton.scheduler.jdbc.databases.entry
import java.nio.file.Path
import java.sql.SQLException
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.api.io.TempDir

/** Columns in which two keys would be one row, and names that are no names of a table. */
class KeyColumnTest {
    @TempDir private lateinit var directory: Path

    private fun TestDatabase.execute(vararg statements: String) =
        connect().use { connection -> for (sql in statements) connection.createStatement().use { it.execute(sql) } }

    private fun TestDatabase.store(table: String = "checks") = JdbcScheduleStore(source, KeyCodec.STRING, table)

    private suspend fun refusal(call: suspend () -> Unit): String =
        try {
            call()
            "accepted"
        } catch (e: IllegalStateException) {
            e.message!!
        }

    /** Returns the messages. */
    private fun assertRefused(database: TestDatabase): String = runBlocking {
        val message = refusal { database.store().createTables() }
        assertTrue("entry_key of table checks takes 'a' and 'A' for one key" in message, message)
        assertEquals(message, refusal { database.store().own("test", 1.minutes) })
        assertEquals(message, refusal { database.store().edit("a", Trigger.every(1.minutes)) })
        assertEquals(message, refusal { database.store().apply(listOf(entry("a"))) })
        message
    }

    private fun assertWorks(database: TestDatabase) = runBlocking {
        val store = database.store()
        store.createTables()
        store.own("test", 1.minutes)
        store.apply(listOf(entry("a"), entry("A"), entry("a ")))
        database.store().run {
            edit("a", Trigger.every(1.minutes))
            close()
        }
        assertEquals(setOf("a", "A", "a "), store.load(0).map { it.key }.toSet())
        store.close()
    }

    private fun remedy(message: String) = message.substringAfterLast(": ").split("; ").toTypedArray()

    @Test
    fun h2_thatIgnoresCase_isRefused_untilTheColumnIsAltered() {
        val message = assertRefused(H2Database(directory, ";IGNORECASE=TRUE"))
        H2Database(directory).use { database ->
            assertEquals(message, assertRefused(database))
            database.execute(*remedy(message))
            assertWorks(database)
        }
    }

    @Test
    fun postgres_nondeterministicCollation_isRefused_untilTheColumnIsAltered() {
        for (locale in listOf("und-u-ks-level2", "und")) PostgresDatabase().use { database ->
            runBlocking { database.store().createTables() }
            database.execute(
                "CREATE COLLATION loose (provider = icu, locale = '$locale', deterministic = false)",
                "ALTER TABLE checks ALTER COLUMN entry_key TYPE TEXT COLLATE loose",
                "ALTER TABLE checks_edits ALTER COLUMN entry_key TYPE TEXT COLLATE loose",
            )
            database.execute(*remedy(assertRefused(database)))
            assertWorks(database)
        }
    }

    @Test
    fun sqlite_columnOfAnotherCollation_isRefused() {
        for ((i, collation) in listOf("NOCASE", "RTRIM").withIndex()) {
            val database = SqliteDatabase(directory.resolve("$i").toFile().also { it.mkdir() }.toPath())
            database.execute(
                SqliteDialect.schema(TableNames("checks"))[0].replace(
                    "entry_key TEXT",
                    "entry_key TEXT COLLATE $collation",
                )
            )
            assertRefused(database)
        }
    }

    @Test
    fun tableName_thatIsAKeyword_isRefusedAtTheFirstCall() {
        val names = listOf("select", "ORDER", "group", "table", "user", "value", "key", "check", "index", "limit")
        for (database in listOf(H2Database(directory), SqliteDatabase(directory), PostgresDatabase())) database.use {
            var refused = 0
            for (name in names) runBlocking {
                val store = database.store(name)
                try {
                    store.createTables()
                    store.apply(listOf(entry("a")))
                    assertEquals("a", store.load(0).single().key)
                } catch (e: IllegalArgumentException) {
                    refused++
                    assertTrue("table = '$name' is a keyword of ${database.product}" in e.message!!, e.message)
                    assertThrows<IllegalArgumentException> {
                        runBlocking { database.store(name).edit("a", Trigger.every(1.minutes)) }
                    }
                } catch (e: SQLException) {
                    throw AssertionError("$name on ${database.product}", e)
                } finally {
                    store.close()
                }
            }
            assertTrue(refused >= 4, "$refused refused by ${database.product}")
        }
    }

    private val TestDatabase.product
        get() = connect().use { it.metaData.databaseProductName }
}
