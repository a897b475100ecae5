package baton.distributed.jdbc

import java.lang.reflect.InvocationTargetException
import java.lang.reflect.Proxy
import java.sql.Connection
import java.sql.SQLException
import java.sql.Statement
import java.util.Queue
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.Semaphore
import javax.sql.DataSource
import org.postgresql.PGConnection

/** A small pool that sees which of its connections listens, and can forward no LISTEN, as a pooler of transactions. */
internal class BellConnections(private val source: DataSource, size: Int = 10, private val mayListen: Boolean = true) :
    DataSource by source {
    private val free = Semaphore(size)

    /** The processes of the server whose connections listen, or did. */
    val listeners: Queue<Int> = ConcurrentLinkedQueue()

    override fun getConnection(): Connection {
        if (!free.tryAcquire()) throw SQLException("all connections are in use", "08001")
        val connection =
            try {
                source.connection
            } catch (e: SQLException) {
                free.release()
                throw e
            }
        return proxy(connection) { method, arguments, call ->
            if (method == "close" && !connection.isClosed) free.release()
            if (method == "createStatement") statement(connection, call() as Statement) else call()
        }
    }

    private fun statement(connection: Connection, statement: Statement): Statement =
        proxy(statement) { _, arguments, call ->
            if ((arguments?.firstOrNull() as? String)?.startsWith("listen") == true) {
                listeners += connection.unwrap(PGConnection::class.java).backendPID
                if (mayListen) call() else false
            } else {
                call()
            }
        }

    private inline fun <reified T : Any> proxy(
        target: T,
        crossinline onCall: (String, Array<out Any?>?, () -> Any?) -> Any?,
    ): T =
        Proxy.newProxyInstance(javaClass.classLoader, arrayOf(T::class.java)) { _, method, arguments ->
            onCall(method.name, arguments) {
                try {
                    method.invoke(target, *(arguments ?: emptyArray()))
                } catch (e: InvocationTargetException) {
                    throw e.targetException
                }
            }
        } as T
}
