package baton.scheduler.jdbc.databases

import baton.Priority
import baton.scheduler.JdbcScheduleStore
import baton.scheduler.KeyCodec
import baton.scheduler.ScheduleRow
import baton.scheduler.jdbc.Dialect
import baton.scheduler.jdbc.TableNames
import baton.scheduler.jdbc.Transaction
import java.sql.Connection
import javax.sql.DataSource
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout

/** The stores of a test on one database. */
internal class JdbcStoreFixture(val database: TestDatabase, val table: String = "checks") : AutoCloseable {
    private val stores = ArrayList<JdbcScheduleStore<*>>()

    init {
        runBlocking { open().createTables() }
    }

    /** Its calls block the thread of the caller, so that virtual time does not pass meanwhile. */
    fun open(
        source: DataSource = database.source,
        pollEdits: Duration = 50.milliseconds,
        codec: KeyCodec<String> = KeyCodec.STRING,
    ): JdbcScheduleStore<String> =
        JdbcScheduleStore(source, codec, table, pollEdits, Dispatchers.Unconfined, Dispatchers.IO).also(stores::add)

    /** As users have it. */
    fun openOnIo(): JdbcScheduleStore<String> =
        JdbcScheduleStore(database.source, KeyCodec.STRING, table, 50.milliseconds).also(stores::add)

    /** A transaction that the test holds. */
    fun begin(): Connection = database.connect().also { it.autoCommit = false }

    /** Writes a row and its edit as another program does, with a revision that it has taken before. */
    fun writeByHand(connection: Connection, key: String, trigger: String, revision: Long, isEdit: Boolean = true) {
        connection.createStatement().use {
            it.execute(
                "INSERT INTO $table (entry_key, trigger_text, priority, next_due, paused_by, deleted, revision, writer) " +
                    "VALUES ('$key', '$trigger', 'NORMAL', NULL, NULL, FALSE, $revision, 'hand')"
            )
            if (isEdit)
                it.execute(
                    "INSERT INTO ${table}_edits (entry_key, revision, writer) VALUES ('$key', $revision, 'hand')"
                )
        }
    }

    fun nextRevision(connection: Connection): Long {
        val dialect = Dialect.of(connection)
        return Transaction(connection, dialect).nextRevision(TableNames(table))
    }

    fun execute(vararg statements: String) {
        database.connect().use { connection ->
            for (sql in statements) connection.createStatement().use { it.execute(sql) }
        }
    }

    fun number(sql: String): Long =
        database.connect().use { connection ->
            connection.createStatement().use { statement ->
                statement.executeQuery(sql).use { result ->
                    result.next()
                    result.getLong(1)
                }
            }
        }

    override fun close() {
        runBlocking { for (store in stores) store.close() }
        database.close()
    }
}

internal fun entry(
    key: String,
    trigger: String = "every PT2M",
    revision: Long = 0,
    isEdited: Boolean = true,
    deleted: Boolean = false,
) = ScheduleRow(key, trigger, Priority.NORMAL, null, null, deleted, revision, null, null, null, isEdited)

internal suspend fun eventually(condition: suspend () -> Boolean) =
    withTimeout(2.minutes) { while (!condition()) kotlinx.coroutines.delay(5.milliseconds) }
