package baton.scheduler.jdbc.databases

import java.lang.reflect.InvocationTargetException
import java.lang.reflect.Proxy
import java.sql.Connection
import java.sql.PreparedStatement
import java.sql.SQLException
import java.sql.Statement
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicLong
import javax.sql.DataSource

/** Fails on demand, and counts what reaches the database. */
internal class FaultySource(private val source: DataSource) : DataSource by source {
    private val connections = ConcurrentHashMap.newKeySet<Connection>()
    val queries = AtomicLong()
    val updates = AtomicLong()
    val commits = AtomicLong()

    /** The method of a connection or a statement that fails. */
    @Volatile var failsAt: String? = null

    val open: Int
        get() = connections.size

    override fun getConnection(): Connection {
        if (failsAt == "getConnection") throw SQLException("no connection", "08001")
        val connection = source.connection
        connections += connection
        return proxy(Connection::class.java, connection)
    }

    /** The network is gone for every connection that is open. */
    fun breakAll() {
        for (connection in connections) connection.close()
    }

    private fun <T : Any> proxy(type: Class<T>, target: T): T {
        val proxy =
            Proxy.newProxyInstance(javaClass.classLoader, arrayOf(type)) { _, method, arguments ->
                if (method.name == failsAt) throw SQLException("$failsAt fails", "53100")
                count(method.name, arguments)
                val result =
                    try {
                        method.invoke(target, *(arguments ?: emptyArray()))
                    } catch (e: InvocationTargetException) {
                        throw e.targetException
                    }
                when (result) {
                    is PreparedStatement -> proxy(PreparedStatement::class.java, result)
                    is Statement -> proxy(Statement::class.java, result)
                    else -> result.also { if (method.name == "close") connections.remove(target as Any) }
                }
            }
        return type.cast(proxy)
    }

    private fun count(method: String, arguments: Array<out Any?>?) {
        when (method) {
            "executeQuery" -> queries.incrementAndGet()
            "executeUpdate",
            "executeBatch" -> updates.incrementAndGet()
            "execute" -> if ("SELECT" in arguments?.firstOrNull().toString()) updates.incrementAndGet()
            "commit" -> commits.incrementAndGet()
        }
    }
}
