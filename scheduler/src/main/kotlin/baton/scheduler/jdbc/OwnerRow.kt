package baton.scheduler.jdbc

import baton.scheduler.ScheduleOwnedException
import kotlin.time.Duration

/** The row that tells which schedule owns the tables, by the clock of the database. */
internal class OwnerRow(private val names: TableNames, private val token: String) {
    /** Whether this store is, or was, the owner. */
    var isOwned = false
        private set

    private var name = ""

    fun own(transaction: Transaction, owner: String, renewEvery: Duration) {
        val now = transaction.dialect.now
        transaction.execute(Dialect.ownerRow(names))
        val isMine =
            transaction.update(
                "UPDATE ${names.owner} SET owner = ?, token = ?, beat_at = $now, beat_every = ? WHERE id = 1 " +
                    "AND (token IS NULL OR token = ? OR beat_at + $MISSED * beat_every <= $now)",
                // PostgreSQL has no such character.
                owner.replace("\u0000", "\\u0000").take(LONGEST_NAME),
                token,
                renewEvery.inWholeMilliseconds.coerceAtLeast(1),
                token,
            ) == 1
        if (!isMine) {
            val (other, age) =
                transaction
                    .query("SELECT owner, $now - beat_at FROM ${names.owner} WHERE id = 1") {
                        (it.getString(1) ?: UNNAMED) to it.getLong(2)
                    }
                    .single()
            val message = "table ${names.rows} is owned by $other, whose last sign of life was $age ms ago"
            throw ScheduleOwnedException(message, other)
        }
        name = owner
        isOwned = true
    }

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
