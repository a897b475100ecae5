package baton.scheduler.jdbc

import baton.scheduler.ScheduleRow
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.minutes

/**
 * The table of the edits. Its numbers are given before their transactions commit, so a poll reads all numbers that are
 * not seen yet, and not only those above the last one.
 */
internal class EditTable<K : Any>(
    private val names: TableNames,
    private val rows: RowTable<K>,
    private val writer: String,
    private val seen: NumberGaps = NumberGaps(LOOK_BACK),
) {
    private var hasBegun = false

    /**
     * The edits that are there are seen. No effect but in the first call: later ones go on where the flow has ended.
     */
    fun begin(transaction: Transaction) {
        if (hasBegun) return
        val sql = "SELECT id FROM ${names.edits} WHERE id > (SELECT COALESCE(MAX(id), 0) FROM ${names.edits}) - 1000"
        seen.reset(transaction.query(sql) { it.getLong(1) }.sorted())
        hasBegun = true
    }

    /** The rows of the edits that were not seen yet, each key once, and what could not be read. */
    fun read(transaction: Transaction): Edits<K> {
        val found = LinkedHashMap<K, ScheduleRow<K>>()
        val ids = ArrayList<Long>()
        var failure: Exception? = null
        transaction.query(
            "SELECT e.id, ${COLUMNS.joinToString { "r.$it" }} FROM ${names.edits} e " +
                "LEFT JOIN ${names.rows} r ON r.entry_key = e.entry_key WHERE e.id > ? ORDER BY e.id",
            seen.mark,
        ) { result ->
            val id = result.getLong(1)
            if (seen.hasSeen(id)) return@query
            ids += id
            // Not there any more, or what is there was written by this store since.
            if (result.getString(2) == null || result.getString(WRITER) == writer) return@query
            try {
                rows.read(result, 1).let { found[it.key] = it }
            } catch (e: IllegalStateException) {
                failure = e
            }
        }
        for (id in ids) seen.see(id)
        seen.giveUpOld()
        return Edits(found.values.toList(), failure)
    }

    fun add(transaction: Transaction, key: String, revision: Long, writer: String) {
        val sql = "INSERT INTO ${names.edits} (entry_key, revision, writer) VALUES (?, ?, ?)"
        transaction.update(sql, key, revision, writer)
    }

    fun deleteOld(transaction: Transaction) {
        val sql = "DELETE FROM ${names.edits} WHERE written_at < ${transaction.dialect.now} - ?"
        transaction.update(sql, KEPT.inWholeMilliseconds)
    }

    class Edits<K : Any>(val rows: List<ScheduleRow<K>>, val failure: Exception?)

    companion object {
        /** How long a transaction may take to commit after one that has begun later. */
        val LOOK_BACK = 10.minutes
        private val KEPT = 24.hours
        private val COLUMNS = Dialect.COLUMNS.split(", ")
        private const val WRITER = 9
    }
}
