package baton.scheduler.jdbc

import java.sql.Connection
import java.sql.SQLException

/**
 * The embedded database in a file. It has one writer at a time, so revisions become visible in their order; each
 * transaction that writes begins with a write, because one that has read cannot wait for the file any more.
 */
internal object SqliteDialect : Dialect("SQLite", listOf(3, 24)) {
    private const val BUSY_MILLIS = 5_000
    private const val RESULT_MASK = 0xff
    private const val BUSY = 5
    private const val TOO_BIG = 18
    private const val CONSTRAINT = 19

    override val now = "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"

    /** It would have no effect but to shorten the wait for the file. */
    override val hasTimeouts = false

    override fun schema(names: TableNames) =
        listOf(
            """CREATE TABLE IF NOT EXISTS ${names.rows} (
                entry_key TEXT NOT NULL PRIMARY KEY, trigger_text TEXT NOT NULL, priority TEXT NOT NULL $PRIORITIES,
                next_due TEXT, paused_by TEXT $PAUSES, deleted INTEGER NOT NULL, revision INTEGER NOT NULL,
                writer TEXT NOT NULL, entry_data BLOB CHECK (length(entry_data) <= 65536),
                last_run TEXT, last_outcome TEXT $OUTCOMES)""",
            """CREATE TABLE IF NOT EXISTS ${names.edits} (
                id INTEGER PRIMARY KEY AUTOINCREMENT, entry_key TEXT NOT NULL, revision INTEGER NOT NULL,
                writer TEXT NOT NULL, written_at INTEGER NOT NULL DEFAULT ($now))""",
            "CREATE TABLE IF NOT EXISTS ${names.revision} (value INTEGER NOT NULL)",
            """INSERT INTO ${names.revision} (value)
                SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM ${names.revision})""",
            """CREATE TABLE IF NOT EXISTS ${names.owner} (
                id INTEGER NOT NULL PRIMARY KEY, owner TEXT, token TEXT, beat_at INTEGER NOT NULL,
                beat_every INTEGER NOT NULL, version INTEGER NOT NULL, paused INTEGER NOT NULL)""",
            ownerRow(names),
        )

    override fun remedy(names: TableNames) =
        "create ${names.rows} anew by createTables, and copy the rows from the old table"

    override fun nextRevision(names: TableNames) =
        listOf("UPDATE ${names.revision} SET value = value + 1", "SELECT value FROM ${names.revision}")

    override fun upsert(names: TableNames) = upsertOnConflict(names)

    override fun prepare(connection: Connection) {
        execute(connection, "PRAGMA busy_timeout = $BUSY_MILLIS")
    }

    /**
     * A table that another program has created since the statement was prepared makes it a read. The transaction can
     * then not become one that writes while others do.
     */
    override fun isCreatedMeanwhile(e: SQLException) = (e.errorCode and RESULT_MASK) == BUSY

    override fun isRefusal(e: SQLException): Boolean =
        (e.errorCode and RESULT_MASK).let { it == TOO_BIG || it == CONSTRAINT }
}
