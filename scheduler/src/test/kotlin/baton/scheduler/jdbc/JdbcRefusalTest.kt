package baton.scheduler.jdbc

import baton.Priority
import baton.scheduler.JdbcScheduleStore
import baton.scheduler.KeyCodec
import baton.scheduler.Schedule
import baton.scheduler.ScheduleConfig
import baton.scheduler.ScheduleRow
import baton.scheduler.Trigger
import baton.scheduler.jdbc.databases.H2Database
import baton.scheduler.jdbc.databases.JdbcStoreFixture
import baton.scheduler.jdbc.databases.PostgresDatabase
import baton.scheduler.jdbc.databases.PostgresServer
import baton.scheduler.jdbc.databases.SqliteDatabase
import java.lang.reflect.Proxy
import java.nio.file.Path
import java.sql.Connection
import java.sql.DatabaseMetaData
import java.sql.SQLException
import java.sql.SQLFeatureNotSupportedException
import javax.sql.DataSource
import kotlin.time.Duration
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.api.io.TempDir

class JdbcRefusalTest {
    @TempDir private lateinit var directory: Path

    private fun <T> proxy(type: Class<T>, answer: (method: String) -> Any?): T =
        type.cast(Proxy.newProxyInstance(javaClass.classLoader, arrayOf(type)) { _, method, _ -> answer(method.name) })

    private var isClosed = false

    private fun source(product: String, version: String): DataSource {
        val data =
            proxy(DatabaseMetaData::class.java) { method ->
                if (method == "getDatabaseProductName") product else version
            }
        val connection =
            proxy(Connection::class.java) { method ->
                when (method) {
                    "getMetaData" -> data
                    "close" -> isClosed = true
                    "getAutoCommit" -> false
                    "getTransactionIsolation" -> Connection.TRANSACTION_READ_COMMITTED
                    else -> null
                }
            }
        return proxy(DataSource::class.java) { connection }
    }

    private fun refusal(product: String, version: String): String? {
        val store = JdbcScheduleStore(source(product, version), KeyCodec.STRING)
        isClosed = false
        val failure = assertThrows<SQLFeatureNotSupportedException> { runBlocking { store.createTables() } }
        assertTrue(isClosed)
        return failure.message
    }

    @Test
    fun database_thatIsNotSupported_isRefusedWithItsNameAndVersion() {
        assertEquals(
            "JdbcScheduleStore does not support MySQL 8.4.2: use H2, SQLite or PostgreSQL",
            refusal("MySQL", "8.4.2"),
        )
        val tooOld = "JdbcScheduleStore does not support SQLite 3.23.1: the oldest is 3.24"
        assertEquals(tooOld, refusal("SQLite", "3.23.1"))
        for ((product, version) in
            listOf("SQLite" to "2.99", "H2" to "1.4.200 (2019-10-14)", "PostgreSQL" to "9.6.24")) {
            assertTrue(version in refusal(product, version)!!)
        }
    }

    @Test
    fun tableName_ofOtherCharacters_isRefused() {
        val source = source("H2", "2.5")
        for (table in listOf("", "a b", "a;", "1a", "a-b", "x\"y", "ä", "a.b", "x".repeat(49))) {
            val failure = assertThrows<IllegalArgumentException> { JdbcScheduleStore(source, KeyCodec.STRING, table) }
            assertTrue("table = '$table'" in failure.message!!)
        }
        for (table in listOf("a", "_", "Checks_2", "x".repeat(48))) JdbcScheduleStore(source, KeyCodec.STRING, table)
        assertThrows<IllegalArgumentException> { JdbcScheduleStore(source, KeyCodec.STRING, "a", Duration.ZERO) }
    }

    @Test
    fun tableName_longAndMixed_works_onEachDatabase() {
        val table = "Checks_" + "X".repeat(41)
        for (database in listOf(H2Database(directory), SqliteDatabase(directory), postgresOrNull()).filterNotNull()) {
            JdbcStoreFixture(database, table).use { fixture ->
                runBlocking {
                    fixture.open().createTables()
                    fixture.open().edit("a", baton.scheduler.Trigger.fixedDelay(Duration.parse("1s")))
                    assertEquals("delay PT1S", fixture.open().load(0).single().trigger)
                }
            }
        }
    }

    private fun postgresOrNull() = if (PostgresServer.url == null) null else PostgresDatabase()

    @Test
    fun toString_showsTheTable() {
        val store = JdbcScheduleStore(source("H2", "2.5"), KeyCodec.STRING, "checks")
        assertEquals("JdbcScheduleStore (table = checks, pollEdits = 5s)", "$store")
    }

    @Test
    fun key_whoseToStringThrows_isTakenLikeAnyOther() {
        fun row(key: String, trigger: String) =
            ScheduleRow(Nameless(key), trigger, Priority.NORMAL, null, pausedBy = null, deleted = false, 0)
        val rows = RowTable(TableNames("checks"), NamelessCodec)
        assertEquals("a", rows.textsOf(row("a", "every PT1M")).key)
        val tooLong = assertThrows<IllegalArgumentException> { rows.textsOf(row("a", "x".repeat(70_000))) }
        assertTrue("trigger of the key 'a' has 70000 bytes" in tooLong.message!!, tooLong.message)
        assertThrows<IllegalArgumentException> { rows.textsOf(row("", "every PT1M")) }
    }

    private class Nameless(val text: String) {
        override fun toString(): String = error("no name")
    }

    private object NamelessCodec : KeyCodec<Nameless> {
        override fun encode(key: Nameless): String = key.text.ifEmpty { error("no text") }

        override fun decode(text: String) = Nameless(text)
    }

    /** A user who had not called createTables saw "no such table: jobs", and nothing that names the remedy. */
    @Test
    fun tables_thatAreMissing_failEachFirstCallWithTheNameOfTheCallThatCreatesThem() {
        for (database in listOf(H2Database(directory), SqliteDatabase(directory), PostgresDatabase())) database.use {
            fun store() = JdbcScheduleStore(it.source, KeyCodec.STRING, table = "jobs")
            assertNamesCreateTables { Schedule(store(), config = ScheduleConfig(onFailure = { _, _ -> })) {}.run() }
            assertNamesCreateTables { store().load(0) }
            assertNamesCreateTables { store().edit("a", Trigger.every(1.minutes)) }
            it.connect().use { connection ->
                connection.autoCommit = false
                assertNamesCreateTables { store().edit(connection) { put("a", Trigger.every(1.minutes)) } }
                connection.rollback()
            }
        }
    }

    private fun assertNamesCreateTables(call: suspend () -> Unit) {
        val failure = assertThrows<SQLException> { runBlocking { call() } }
        assertEquals(
            "the tables of jobs are not there: call createTables, in Java that of ScheduleStores, first",
            failure.message,
        )
        val cause = failure.cause as SQLException
        assertEquals(cause.sqlState to cause.errorCode, failure.sqlState to failure.errorCode)
    }
}
