package baton.scheduler.jdbc

import baton.Priority
import baton.scheduler.KeyCodec
import baton.scheduler.PausedBy
import baton.scheduler.RunOutcome
import baton.scheduler.ScheduleRow
import baton.scheduler.schedule.EntryData
import baton.scheduler.schedule.KeyTexts
import java.sql.BatchUpdateException
import java.sql.PreparedStatement
import java.sql.ResultSet
import java.sql.SQLException
import java.sql.Statement
import java.time.DateTimeException
import java.time.Instant

/** The table of the rows. */
internal class RowTable<K : Any>(private val names: TableNames, private val codec: KeyCodec<K>) {
    /** The texts of a row, checked before anything is written. */
    class Texts<K : Any>(val row: ScheduleRow<K>, val key: String)

    /** @throws IllegalArgumentException if no database could hold the row. */
    fun textsOf(row: ScheduleRow<K>): Texts<K> {
        val key = textOf(row.key)
        requireText(row.trigger, LONGEST_TRIGGER) { "trigger of the key '$key'" }
        EntryData.requireFits(row.data)
        return Texts(row, key)
    }

    /** The text of a key as it is in the table. */
    fun storedKey(transaction: Transaction, key: String): String =
        if (key.isEmpty() && transaction.dialect.hasNoEmptyText(transaction)) EMPTY_KEY else key

    fun textOf(key: K): String {
        val text = KeyTexts.of(key, codec)
        requireText(text, LONGEST_KEY) { "text of the key" }
        return text
    }

    private inline fun requireText(text: String, longest: Int, what: () -> String) {
        val bytes = text.toByteArray()
        require(bytes.size <= longest) { "${what()} has ${bytes.size} bytes in UTF-8, must have at most $longest" }
        require('\u0000' !in text) { "${what()} '${text.replace("\u0000", "\\u0000")}' has the character U+0000" }
        require(String(bytes) == text) { "${what()} '$text' has half a surrogate pair" }
    }

    fun loadAll(transaction: Transaction): List<ScheduleRow<K>> =
        transaction.query("SELECT $COLUMNS FROM ${names.rows} WHERE deleted = FALSE", read = ::read)

    /** The rows with a revision above [since], deleted ones among them. */
    fun loadSince(transaction: Transaction, since: Long): List<ScheduleRow<K>> =
        transaction.query("SELECT $COLUMNS FROM ${names.rows} WHERE revision > ?", since, read = ::read)

    /**
     * Writes [rows] with [revision]. Returns those that it has left out, because the stored row is newer.
     *
     * @throws IllegalArgumentException if the database refuses a row.
     */
    fun upsert(transaction: Transaction, rows: List<Texts<K>>, revision: Long, writer: String): List<Texts<K>> {
        val kept = ArrayList<Texts<K>>()
        var areCounted = true
        transaction.prepare(transaction.dialect.upsert(names)).use { statement ->
            for (chunk in rows.chunked(BATCH)) {
                for (row in chunk) {
                    bind(statement, storedKey(transaction, row.key), row.row, revision, writer)
                    statement.addBatch()
                }
                val counts = refusing(transaction.dialect) { statement.executeBatch() }
                for ((i, count) in counts.withIndex()) {
                    if (count == 0) kept += chunk[i]
                    if (count == Statement.SUCCESS_NO_INFO) areCounted = false
                }
            }
        }
        return if (areCounted) kept else leftOut(transaction, rows, revision)
    }

    /** A driver that rewrites batches does not count for each row. */
    private fun leftOut(transaction: Transaction, rows: List<Texts<K>>, revision: Long): List<Texts<K>> {
        val sql = "SELECT entry_key FROM ${names.rows} WHERE revision = ?"
        val written = transaction.query(sql, revision) { it.getString(1) }.toHashSet()
        return rows.filter { storedKey(transaction, it.key) !in written }
    }

    private inline fun <T> refusing(dialect: Dialect, action: () -> T): T =
        try {
            action()
        } catch (e: SQLException) {
            val cause = if (e is BatchUpdateException) e.nextException ?: e else e
            if (dialect.isRefusal(cause)) throw IllegalArgumentException("${dialect.name} refuses a row: $cause", e)
            throw e
        }

    private fun bind(statement: PreparedStatement, key: String, row: ScheduleRow<K>, revision: Long, writer: String) {
        statement.setString(1, key)
        // No empty text, which may be NULL.
        statement.setString(2, if (row.deleted) DELETED else row.trigger)
        statement.setString(3, row.priority.name)
        statement.setString(4, row.nextDue?.toString())
        statement.setString(5, row.pausedBy?.name)
        statement.setBoolean(6, row.deleted)
        statement.setLong(7, revision)
        statement.setString(8, writer)
        statement.setBytes(9, row.data)
        statement.setString(10, row.lastRun?.toString())
        statement.setString(11, row.lastOutcome?.name)
        // The user's own edit replaces whatever is there; the due time that a run has set replaces what was known.
        statement.setLong(12, if (row.isEdited) Long.MAX_VALUE else row.revision)
        statement.setString(13, writer)
    }

    private fun read(result: ResultSet): ScheduleRow<K> = read(result, 0)

    /** Reads the [COLUMNS] behind [offset] others. */
    fun read(result: ResultSet, offset: Int): ScheduleRow<K> {
        val key = result.getString(offset + 1)
        val isDeleted = result.getBoolean(offset + 6)
        return ScheduleRow(
            key = keyOf(if (key == EMPTY_KEY) "" else key),
            trigger = if (isDeleted) "" else result.getString(offset + 2),
            priority = valueOf<Priority>("priority", key, result.getString(offset + 3)),
            nextDue = result.getString(offset + 4)?.let { instantOf("next_due", key, it) },
            pausedBy = result.getString(offset + 5)?.let { valueOf<PausedBy>("paused_by", key, it) },
            deleted = isDeleted,
            revision = result.getLong(offset + 7),
            data = result.getBytes(offset + 9),
            lastRun = result.getString(offset + 10)?.let { instantOf("last_run", key, it) },
            lastOutcome = result.getString(offset + 11)?.let { valueOf<RunOutcome>("last_outcome", key, it) },
        )
    }

    private fun keyOf(text: String): K =
        try {
            codec.decode(text)
        } catch (e: IllegalArgumentException) {
            throw IllegalStateException("table ${names.rows} holds the key '$text', none of the codec $codec", e)
        }

    private inline fun <reified E : Enum<E>> valueOf(column: String, key: String, text: String): E =
        enumValues<E>().find { it.name == text }
            ?: error("table ${names.rows} holds the $column '$text' for the key '$key', which is none")

    private fun instantOf(column: String, key: String, text: String): Instant =
        try {
            Instant.parse(text)
        } catch (e: DateTimeException) {
            val message = "table ${names.rows} holds $column '$text' for the key '$key', which is no instant"
            throw IllegalStateException(message, e)
        }

    companion object {
        const val COLUMNS = Dialect.COLUMNS

        /** The trigger of a deleted row, and the key that is empty where the empty text is NULL: no key is like it. */
        const val DELETED = "deleted"
        const val EMPTY_KEY = "\u0000"

        /** PostgreSQL's index holds at most 2,704 bytes. */
        const val LONGEST_KEY = 2_000
        const val LONGEST_TRIGGER = 65_535
        const val BATCH = 1_000
    }
}
