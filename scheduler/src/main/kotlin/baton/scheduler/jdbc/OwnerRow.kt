package baton.scheduler.jdbc

import baton.scheduler.ScheduleOwnedException
import kotlin.time.Duration

/**
 * The row that tells which schedule owns the tables, by the clock of the database. Where that clock was ahead, the last
 * sign of life lies in the future, and its age says nothing: it is watched then, and is stale if it does not change.
 */
internal class OwnerRow(private val names: TableNames, private val token: String) {
    /** Whether this store is, or was, the owner. */
    var isOwned = false
        private set

    private var name = ""

    /** The sign of life of another owner, which was the same [times] times, [everyMillis] apart. */
    class Beat(val token: String?, val at: Long, val everyMillis: Long, val times: Int) {
        val isStale: Boolean
            get() = times >= MISSED
    }

    /**
     * Returns null if the row is owned now; otherwise what is to be passed as [seen] after another [Beat.everyMillis].
     */
    fun own(transaction: Transaction, owner: String, renewEvery: Duration, seen: Beat?): Beat? {
        val now = transaction.dialect.now
        transaction.execute(Dialect.ownerRow(names))
        val stale = seen?.takeIf { it.isStale }
        val isMine =
            transaction.update(
                "UPDATE ${names.owner} SET owner = ?, token = ?, beat_at = $now, beat_every = ? WHERE id = 1 " +
                    "AND (token IS NULL OR token = ? OR beat_at + $MISSED * beat_every <= $now " +
                    "OR (token = ? AND beat_at = ?))",
                // PostgreSQL has no such character.
                owner.replace("\u0000", "\\u0000").take(LONGEST_NAME),
                token,
                renewEvery.inWholeMilliseconds.coerceAtLeast(1),
                token,
                stale?.token ?: token,
                stale?.at ?: 0L,
            ) == 1
        if (!isMine) return watch(transaction, seen)
        name = owner
        isOwned = true
        return null
    }

    private fun watch(transaction: Transaction, seen: Beat?): Beat {
        val now = transaction.dialect.now
        val sql = "SELECT owner, $now - beat_at, token, beat_at, beat_every FROM ${names.owner} WHERE id = 1"
        return transaction
            .query(sql) {
                val beat = Beat(it.getString(3), it.getLong(4), it.getLong(5), (seen?.times ?: 0) + 1)
                val age = it.getLong(2)
                val isSame = seen != null && seen.token == beat.token && seen.at == beat.at
                if (!isSame && (seen != null || age >= 0))
                    throw owned(it.getString(1) ?: UNNAMED, age, beat.everyMillis)
                beat
            }
            .single()
    }

    private fun owned(other: String, age: Long, every: Long) =
        ScheduleOwnedException(
            "table ${names.rows} is owned by $other, whose last sign of life was " +
                (if (age >= 0) "$age ms ago" else "within the last $every ms") +
                ". Without another one it is free after $MISSED times $every ms; if that program has ended, at once by: " +
                "UPDATE ${names.owner} SET owner = NULL, token = NULL",
            other,
        )

    /** A sign of life, without which nothing is written. */
    fun renew(transaction: Transaction) {
        if (!isOwned) return
        val sql = "UPDATE ${names.owner} SET beat_at = ${transaction.dialect.now} WHERE id = 1 AND token = ?"
        if (transaction.update(sql, token) == 1) return
        val other = transaction.query("SELECT owner FROM ${names.owner} WHERE id = 1") { it.getString(1) }.firstOrNull()
        throw ScheduleOwnedException(
            "table ${names.rows} was taken over from $name by ${other ?: "a program that has ended since"}",
            other ?: UNNAMED,
        )
    }

    fun release(transaction: Transaction) {
        transaction.update("UPDATE ${names.owner} SET owner = NULL, token = NULL WHERE id = 1 AND token = ?", token)
        isOwned = false
    }

    private companion object {
        const val MISSED = 3
        const val LONGEST_NAME = 400
        const val UNNAMED = "an owner without a name"
    }
}
