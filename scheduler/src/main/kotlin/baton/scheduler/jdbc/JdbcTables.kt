package baton.scheduler.jdbc

import baton.scheduler.KeyCodec
import baton.scheduler.ScheduleRow
import java.sql.Connection
import java.sql.SQLException
import java.util.UUID
import javax.sql.DataSource
import kotlin.time.Duration

/**
 * The operations of a store on its tables. Each is one transaction, and blocks. One thread at a time.
 *
 * A revision is taken from the database before its rows are written, so revisions may become visible out of order. What
 * keeps an edit from being lost:
 * - No write lowers the revision of a row: a batch that would do so is repeated with a new one.
 * - A due time that a run has set does not replace a row that others have written since the schedule has read it. That
 *   row gets a revision above that of the batch, and a new edit announces it.
 * - [load] reads all revisions that it has not seen, and not only those above the last one.
 */
internal class JdbcTables<K : Any>(source: DataSource, codec: KeyCodec<K>, private val names: TableNames) {
    private val session = JdbcSession(source)

    /** Of the rows that the schedule of this store writes. */
    private val writer = UUID.randomUUID().toString()

    /** Of the edits made by this store: its own schedule, if any, takes them over like those of others. */
    private val editor = "$writer edit"
    private val rows = RowTable(names, codec)
    private val edits = EditTable(names, rows, writer)
    private val owner = OwnerRow(names, writer)
    private val revisions = NumberGaps(EditTable.LOOK_BACK)

    /** The greatest revisions at the last reads of the owner. */
    private val readRevisions = ArrayDeque<Long>()
    private var hasLoaded = false

    /** Written by any thread: see [editIn]. */
    @Volatile private var isValid = false
    private var isClosed = false

    fun create() {
        TableCreation(session, names).create()
        validate(keeps = session.isOpen)
    }

    /** Before the first write of this store. In a transaction of its own: see [SqliteDialect]. */
    private fun validate(keeps: Boolean) {
        if (!isValid) session.transaction(keeps) { validate() }
        isValid = true
    }

    private fun Transaction.validate() =
        dialect.namingMissing(names) {
            dialect.validate(this, names)
            dialect.checkVersion(this, names)
        }

    fun load(since: Long): List<ScheduleRow<K>> {
        if (since == 0L) isClosed = false else checkOpen()
        validate(keeps = true)
        if (since > 0 && !hasLoaded) revisions.reset(listOf(since), window = 0)
        hasLoaded = true
        val found =
            session.transaction(keeps = true) {
                if (since == 0L) rows.loadAll(this) else rows.loadSince(this, minOf(since, revisions.mark))
            }
        val newer =
            if (since == 0L) {
                revisions.reset(found.map { it.revision }.distinct().sorted())
                found
            } else {
                val newer = found.filter { it.revision > since || !revisions.hasSeen(it.revision) }
                for (row in found) revisions.see(row.revision)
                revisions.giveUpOld()
                newer
            }
        if (owner.isOwned) cleanUp()
        return newer
    }

    /** Deleted rows stay until the second resync after them. */
    private fun cleanUp() {
        readRevisions += revisions.greatest
        try {
            session.transaction(keeps = true) {
                owner.renew(this)
                edits.deleteOld(this)
                if (readRevisions.size > KEPT_READS)
                    update("DELETE FROM ${names.rows} WHERE deleted = TRUE AND revision <= ?", readRevisions.first())
            }
            if (readRevisions.size > KEPT_READS) readRevisions.removeFirst()
        } catch (_: SQLException) {
            // The rows were read. The next read cleans up.
            readRevisions.removeLast()
        }
    }

    fun apply(batch: List<ScheduleRow<K>>): Long {
        checkOpen()
        validate(keeps = true)
        // Two batches that lock their rows in one order wait for each other at most once.
        val texts = batch.associate { row -> rows.textsOf(row).let { it.key to it } }.values.sortedBy { it.key }
        repeat(TRIES) {
            write(texts)?.let {
                return it.also(revisions::see)
            }
        }
        error("table ${names.rows} had newer rows in $TRIES tries")
    }

    /** Returns null if an edited row would get a smaller revision than it has. */
    private fun write(texts: List<RowTable.Texts<K>>): Long? =
        attempt(keeps = true) {
            owner.renew(this)
            val revision = nextRevision(names)
            val kept = rows.upsert(this, texts, revision, writer)
            if (kept.any { it.row.isEdited }) throw OvertakenException()
            for (row in kept) announce(rows.storedKey(this, row.key))
            revision
        }

    private fun Transaction.announce(key: String) {
        val revision = nextRevision(names)
        if (update("UPDATE ${names.rows} SET revision = ? WHERE entry_key = ?", revision, key) == 1)
            edits.add(this, key, revision, editor)
    }

    fun edit(row: ScheduleRow<K>) {
        val texts = rows.textsOf(row)
        validate(keeps = session.isOpen)
        repeat(TRIES) { if (edit(texts)) return }
        error("table ${names.rows} had a newer row of key '${texts.key}' in $TRIES tries")
    }

    private fun edit(texts: RowTable.Texts<K>): Boolean =
        attempt(keeps = session.isOpen) {
            val revision = nextRevision(names)
            if (rows.upsert(this, listOf(texts), revision, editor).isNotEmpty()) throw OvertakenException()
            edits.add(this, rows.storedKey(this, texts.key), revision, editor)
        } != null

    /**
     * Edits in the transaction of [connection], on any thread. A row that another writer has changed meanwhile gets a
     * newer revision.
     */
    fun editIn(connection: Connection, edited: Collection<ScheduleRow<K>>) {
        require(!connection.autoCommit) { "connection is in auto-commit mode, must be in a transaction" }
        if (edited.isEmpty()) return
        val transaction = Transaction(connection, Dialect.of(connection), isLimited = false)
        var left = edited.map(rows::textsOf).sortedBy { it.key }
        repeat(TRIES) {
            // On SQLite, a transaction that begins with a read may be unable to write.
            val revision = transaction.dialect.namingMissing(names) { transaction.nextRevision(names) }
            if (!isValid) transaction.validate()
            isValid = true
            val newer = rows.upsert(transaction, left, revision, editor)
            for (row in left - newer.toSet()) edits.add(
                transaction,
                rows.storedKey(transaction, row.key),
                revision,
                editor,
            )
            left = newer
            if (left.isEmpty()) return
        }
        error("table ${names.rows} had newer rows in $TRIES tries")
    }

    /** Whether the schedule is paused as a whole. */
    fun isPaused(): Boolean {
        checkOpen()
        val sql = "SELECT paused FROM ${names.owner} WHERE id = 1"
        return session.transaction(keeps = true) { query(sql) { it.getBoolean(1) }.any { it } }
    }

    fun setPaused(isPaused: Boolean) {
        checkOpen()
        session.transaction(keeps = true) {
            owner.renew(this)
            execute(Dialect.ownerRow(names))
            update("UPDATE ${names.owner} SET paused = ? WHERE id = 1", isPaused)
        }
    }

    /** Returns null if another writer was in between. */
    private fun <T> attempt(keeps: Boolean, block: Transaction.() -> T): T? =
        try {
            session.transaction(keeps, block)
        } catch (_: OvertakenException) {
            null
        } catch (e: SQLException) {
            // Both have inserted the row.
            if (generateSequence(e) { it.nextException }.none { it.sqlState == Dialect.UNIQUE_VIOLATION }) throw e
            null
        }

    private class OvertakenException : RuntimeException(null, null, false, false)

    /** Returns whether the database may notify of edits. */
    fun beginEdits(): Boolean {
        isClosed = false
        return session.transaction(keeps = true) {
            edits.begin(this)
            dialect == PostgresDialect
        }
    }

    fun readEdits(): EditTable.Edits<K> {
        checkOpen()
        return session.transaction(keeps = true) { edits.read(this) }
    }

    /** See [OwnerRow.own]. */
    fun own(name: String, renewEvery: Duration, seen: OwnerRow.Beat?): OwnerRow.Beat? {
        isClosed = false
        validate(keeps = true)
        return session.transaction(keeps = true) { owner.own(this, name, renewEvery, seen) }
    }

    fun renew() {
        checkOpen()
        session.transaction(keeps = true) { owner.renew(this) }
    }

    /** A call that is late must not open a connection. */
    private fun checkOpen() = check(!isClosed) { "the store of table ${names.rows} is closed" }

    fun close() {
        isClosed = true
        try {
            if (owner.isOwned) session.transaction(keeps = true) { owner.release(this) }
        } finally {
            session.close()
        }
    }

    private companion object {
        const val KEPT_READS = 2
        const val TRIES = 10
    }
}
