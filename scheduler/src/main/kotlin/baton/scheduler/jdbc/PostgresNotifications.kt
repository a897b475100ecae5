package baton.scheduler.jdbc

import java.lang.reflect.InvocationTargetException
import java.lang.reflect.Method
import java.sql.SQLException
import javax.sql.DataSource

/**
 * Waits for PostgreSQL's notifications, on a connection of its own. The driver's interface is found by name, so that
 * nothing depends on it: `org.postgresql.PGConnection.getNotifications(int)`, there since 42.0. Tested with 42.7.14.
 */
internal class PostgresNotifications private constructor(private val opened: JdbcSession.Opened, private val api: Api) :
    AutoCloseable {
    private class Api(val connection: Class<*>, val getNotifications: Method)

    private val driver = opened.connection.unwrap(api.connection)
    private var checkedAt = System.nanoTime()
    private var isClosed = false

    /** Returns whether there was one within [millis]. Blocks as long. */
    fun await(millis: Int): Boolean {
        val notifications =
            try {
                api.getNotifications.invoke(driver, millis) as Array<*>?
            } catch (e: InvocationTargetException) {
                throw e.targetException
            }
        if (!notifications.isNullOrEmpty()) return true
        val now = System.nanoTime()
        if (now - checkedAt > CHECK_NANOS) {
            // A peer that is gone without a word sends no notification either.
            if (!opened.connection.isValid(CHECK_SECONDS)) throw SQLException("the connection is lost")
            checkedAt = now
        }
        return false
    }

    /** Never fails: a connection that is broken has nothing to give back. */
    override fun close() {
        if (isClosed) return
        isClosed = true
        try {
            opened.connection.createStatement().use { it.execute("UNLISTEN *") }
            JdbcSession.close(opened)
        } catch (e: Exception) {
            JdbcSession.discard(opened, e)
        }
    }

    companion object {
        private const val CHECK_NANOS = 60_000_000_000L
        private const val CHECK_SECONDS = 10

        /** Returns null if the database or the driver is another. */
        fun open(source: DataSource, names: TableNames): PostgresNotifications? {
            val api = api() ?: return null
            val opened = JdbcSession.open(source)
            try {
                if (opened.dialect == PostgresDialect && opened.connection.isWrapperFor(api.connection)) {
                    opened.connection.autoCommit = true
                    opened.connection.createStatement().use { it.execute("LISTEN \"${names.channel}\"") }
                    return PostgresNotifications(opened, api)
                }
            } catch (e: Throwable) {
                JdbcSession.discard(opened, e)
                throw e
            }
            JdbcSession.close(opened)
            return null
        }

        private fun api(): Api? {
            for (loader in listOf(Thread.currentThread().contextClassLoader, javaClass.classLoader)) {
                try {
                    val connection = Class.forName("org.postgresql.PGConnection", false, loader)
                    return Api(connection, connection.getMethod("getNotifications", Int::class.java))
                } catch (_: ReflectiveOperationException) {
                    // Not on this path.
                }
            }
            return null
        }
    }
}
