package baton.scheduler.jdbc

import java.sql.Connection
import java.sql.PreparedStatement
import java.sql.ResultSet
import java.sql.Statement
import javax.sql.DataSource

/**
 * The connection of a store. It is kept between the transactions, because to open one is expensive where the database
 * is a file, and is replaced after any failure. One thread at a time.
 */
internal class JdbcSession(private val source: DataSource) {
    private var kept: Opened? = null

    /** A connection, and what it was like before. */
    class Opened(val connection: Connection, val dialect: Dialect) {
        val hadAutoCommit: Boolean = connection.autoCommit
        val isolation: Int = connection.transactionIsolation

        /** Whether a row that was changed meanwhile would fail a transaction instead of being read anew. */
        val isStrict: Boolean = dialect != SqliteDialect && isolation != Connection.TRANSACTION_READ_COMMITTED
    }

    /** Runs [block] in a transaction. The connection stays open afterwards if [keeps]. */
    fun <T> transaction(keeps: Boolean, block: Transaction.() -> T): T {
        val opened = kept ?: open(source)
        kept = null
        val result =
            try {
                Transaction(opened.connection, opened.dialect).block().also { opened.connection.commit() }
            } catch (e: Throwable) {
                discard(opened, e)
                throw e
            }
        if (keeps) kept = opened else close(opened)
        return result
    }

    /** Whether [transaction] will find a connection open. */
    val isOpen: Boolean
        get() = kept != null

    fun close() {
        kept?.let(::close)
        kept = null
    }

    companion object {
        fun open(source: DataSource): Opened {
            val connection = source.connection
            try {
                val dialect = Dialect.of(connection)
                val opened = Opened(connection, dialect)
                connection.autoCommit = false
                if (opened.isStrict) connection.transactionIsolation = Connection.TRANSACTION_READ_COMMITTED
                dialect.prepare(connection)
                connection.commit()
                return opened
            } catch (e: Throwable) {
                connection.use { throw e }
            }
        }

        fun close(opened: Opened) {
            opened.connection.use { connection ->
                opened.dialect.restore(connection)
                connection.autoCommit = opened.hadAutoCommit
                if (opened.isStrict) connection.transactionIsolation = opened.isolation
            }
        }

        /**
         * After [failure], of the connection perhaps, its state is unknown. If it cannot be rolled back it is closed as
         * it is: to change its auto-commit would commit the half of a transaction.
         */
        fun discard(opened: Opened, failure: Throwable) {
            try {
                val rollback = runCatching { opened.connection.rollback() }
                if (rollback.isSuccess) close(opened) else opened.connection.use { rollback.getOrThrow() }
            } catch (e: Throwable) {
                // Drivers throw more than SQLException.
                if (e !== failure) failure.addSuppressed(e)
            }
        }
    }
}

/** The statements of one transaction. */
internal class Transaction(
    val connection: Connection,
    val dialect: Dialect,
    /** Whether its statements have a time limit, which on some databases stays with the connection. */
    private val isLimited: Boolean = true,
) {
    fun prepare(sql: String): PreparedStatement =
        connection.prepareStatement(sql).also {
            try {
                limit(it)
            } catch (e: Throwable) {
                it.use { throw e }
            }
        }

    fun execute(sql: String) {
        connection.createStatement().use {
            limit(it)
            it.execute(sql)
        }
    }

    fun update(sql: String, vararg values: Any?): Int =
        prepare(sql).use {
            it.bind(values)
            it.executeUpdate()
        }

    fun <T> query(sql: String, vararg values: Any?, read: (ResultSet) -> T): List<T> =
        prepare(sql).use { statement ->
            statement.fetchSize = FETCH_SIZE
            statement.bind(values)
            statement.executeQuery().use { result ->
                val all = ArrayList<T>()
                while (result.next()) all += read(result)
                all
            }
        }

    fun nextRevision(names: TableNames): Long {
        val statements = dialect.nextRevision(names)
        for (sql in statements.dropLast(1)) {
            val rows = update(sql)
            check(rows == 1) { "rows of table ${names.revision} = $rows, must be 1" }
        }
        return query(statements.last()) { it.getLong(1) }.single()
    }

    private fun limit(statement: Statement) {
        if (isLimited && dialect.hasTimeouts) statement.queryTimeout = QUERY_SECONDS
    }

    private fun PreparedStatement.bind(values: Array<out Any?>) {
        for ((i, value) in values.withIndex()) setObject(i + 1, value)
    }

    private companion object {
        const val QUERY_SECONDS = 10
        const val FETCH_SIZE = 1_000
    }
}
