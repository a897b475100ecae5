package baton.scheduler.jdbc

import java.sql.Connection
import java.sql.DatabaseMetaData
import java.sql.SQLException
import java.sql.SQLFeatureNotSupportedException
import java.sql.Statement

/** The differences between the databases. */
internal abstract class Dialect(val name: String, private val oldest: List<Int>) {
    /** Creates what is not there. The last statement of all is that of the owner's row. */
    abstract fun schema(names: TableNames): List<String>

    /** The milliseconds since the epoch, as SQL. */
    abstract val now: String

    /** Statements that return the next revision; the last one is a query. */
    abstract fun nextRevision(names: TableNames): List<String>

    /**
     * Writes a row unless the stored one is newer. The parameters are the columns, then the revision up to which others
     * may have written, and the writer, whose own rows are replaced in any case.
     */
    abstract fun upsert(names: TableNames): String

    /** Texts that are different keys, as SQL. */
    open val differentKeys = listOf("'a'", "'A'", "'a '")

    /** Statements that make the column of the keys tell [differentKeys] apart; or what else is to be done. */
    abstract fun remedy(names: TableNames): String

    /**
     * @throws IllegalArgumentException if the name of the table is a keyword.
     * @throws IllegalStateException if the column of the keys would take two keys for one.
     */
    fun validate(transaction: Transaction, names: TableNames) {
        val keys = differentKeys.joinToString("") { " UNION SELECT $it" }
        // The result has the type and the collation of the column.
        val sql = "SELECT COUNT(*) FROM (SELECT entry_key FROM ${names.rows} WHERE 1 = 0$keys) AS ${names.rows}"
        val count = refusingKeyword(names) { transaction.query(sql) { it.getInt(1) }.single() }
        check(count == differentKeys.size) {
            "column entry_key of table ${names.rows} takes 'a' and 'A' for one key, or others that differ as little, so " +
                "that one of two entries would be lost: ${remedy(names)}"
        }
    }

    /** @throws IllegalStateException if the tables are those of another version of this library. */
    fun checkVersion(transaction: Transaction, names: TableNames) {
        // All columns, because a query of one that is not there fails.
        val found =
            transaction.query("SELECT * FROM ${names.owner}") { result ->
                val columns = 1..result.metaData.columnCount
                val column = columns.find { result.metaData.getColumnName(it).equals("version", ignoreCase = true) }
                if (column == null) 0 else result.getInt(column)
            }
        for (version in found) check(version == VERSION) {
            "the tables of ${names.rows} have version $version, and only $VERSION is known: create them anew by " +
                "createTables, under another name"
        }
    }

    /** @throws SQLException of the same state, that names the remedy, if [action] finds a table missing. */
    inline fun <T> namingMissing(names: TableNames, action: () -> T): T =
        try {
            action()
        } catch (e: SQLException) {
            // SQLite has no states.
            if (e.sqlState !in MISSING && "no such table" !in e.message.orEmpty()) throw e
            val message =
                "the tables of ${names.rows} are not there: call createTables, in Java that of ScheduleStores, first"
            throw SQLException(message, e.sqlState, e.errorCode, e)
        }

    inline fun <T> refusingKeyword(names: TableNames, action: () -> T): T =
        try {
            action()
        } catch (e: SQLException) {
            // SQLite has no states.
            if (e.sqlState !in SYNTAX_ERRORS && "syntax error" !in e.message.orEmpty()) throw e
            throw IllegalArgumentException("table = '${names.rows}' is a keyword of $name: use another name", e)
        }

    /** Whether the empty text is NULL there, which no key and no trigger may be. */
    open fun hasNoEmptyText(transaction: Transaction): Boolean = false

    /** Whether a statement can be given a time limit. */
    open val hasTimeouts = true

    /** Settings of a new connection. */
    open fun prepare(connection: Connection) {}

    /** Undoes what would disturb the next user of a pooled connection. */
    open fun restore(connection: Connection) {}

    /** Whether [e] says that a row cannot be written as it is, so that another try is of no use. */
    open fun isRefusal(e: SQLException): Boolean {
        val state = e.sqlState ?: return false
        return (state.startsWith(DATA_EXCEPTION) || state.startsWith(INTEGRITY)) && state != UNIQUE_VIOLATION
    }

    /** Whether [e], of a statement of the [schema], says that another program has created the same at that moment. */
    open fun isCreatedMeanwhile(e: SQLException): Boolean = false

    private fun requireVersion(data: DatabaseMetaData) {
        val version = data.databaseProductVersion
        val numbers = Regex("\\d+").findAll(version).map { it.value.toInt() }.take(oldest.size).toList()
        for ((actual, bound) in numbers.zip(oldest)) {
            if (actual > bound) return
            if (actual < bound) throw unsupported("$name $version", "the oldest is ${oldest.joinToString(".")}")
        }
    }

    protected fun execute(connection: Connection, sql: String) =
        connection.createStatement().use { statement: Statement -> statement.execute(sql) }

    companion object {
        private const val DATA_EXCEPTION = "22"
        private const val INTEGRITY = "23"
        const val UNIQUE_VIOLATION = "23505"
        val SYNTAX_ERRORS = setOf("42000", "42001", "42601")

        /** Of H2 a table, the same in an empty database, and a sequence; of PostgreSQL either. */
        val MISSING = setOf("42S02", "42S03", "42S04", "90036", "42P01")

        /** @throws SQLFeatureNotSupportedException for any other database. */
        fun of(connection: Connection): Dialect {
            val data = connection.metaData
            val product = data.databaseProductName
            val dialect =
                when (product) {
                    "H2" -> H2Dialect
                    "SQLite" -> SqliteDialect
                    "PostgreSQL" -> PostgresDialect
                    else -> throw unsupported("$product ${data.databaseProductVersion}", "use H2, SQLite or PostgreSQL")
                }
            dialect.requireVersion(data)
            return dialect
        }

        private fun unsupported(database: String, instead: String) =
            SQLFeatureNotSupportedException("JdbcScheduleStore does not support $database: $instead")

        /** Of the tables. */
        const val VERSION = 1

        const val COLUMNS =
            "entry_key, trigger_text, priority, next_due, paused_by, deleted, revision, writer, entry_data, last_run, " +
                "last_outcome"

        const val PAUSES = "CHECK (paused_by IN ('USER', 'FAILED_TRIGGER', 'FAILED_RUN'))"
        const val OUTCOMES = "CHECK (last_outcome IN ('SUCCEEDED', 'FAILED', 'TIMED_OUT', 'CANCELLED'))"
        const val PRIORITIES = "CHECK (priority IN ('CRITICAL', 'HIGH', 'NORMAL', 'LOW', 'IDLE'))"

        /** Of SQLite and PostgreSQL. */
        fun upsertOnConflict(names: TableNames) =
            """INSERT INTO ${names.rows} ($COLUMNS) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (entry_key) DO UPDATE SET trigger_text = excluded.trigger_text,
                priority = excluded.priority, next_due = excluded.next_due, paused_by = excluded.paused_by,
                deleted = excluded.deleted, revision = excluded.revision, writer = excluded.writer,
                entry_data = excluded.entry_data, last_run = COALESCE(excluded.last_run, ${names.rows}.last_run),
                last_outcome = COALESCE(excluded.last_outcome, ${names.rows}.last_outcome)
                WHERE ${names.rows}.revision < excluded.revision
                AND (${names.rows}.revision <= ? OR ${names.rows}.writer = ?)"""

        fun ownerRow(names: TableNames) =
            "INSERT INTO ${names.owner} (id, beat_at, beat_every, version, paused) " +
                "SELECT 1, 0, 0, $VERSION, FALSE WHERE NOT EXISTS (SELECT 1 FROM ${names.owner})"
    }
}
