package baton.scheduler.jdbc.databases

import java.lang.reflect.InvocationTargetException
import java.lang.reflect.Proxy
import java.sql.Connection
import java.sql.SQLException
import java.util.concurrent.Semaphore
import javax.sql.DataSource

/** Has [size] connections, and does not wait for one. The methods of a connection fail on demand. */
internal class SmallPool(private val source: DataSource, private val size: Int = 5) : DataSource by source {
    private val free = Semaphore(size)

    /** Called before a connection is given out. */
    @Volatile var onGet: () -> Unit = {}

    /** The failure of a call of this method with this first argument. */
    @Volatile var fails: (method: String, argument: Any?) -> Throwable? = { _, _ -> null }

    val open: Int
        get() = size - free.availablePermits()

    override fun getConnection(): Connection {
        onGet()
        if (!free.tryAcquire()) throw SQLException("all $size connections are in use", "08001")
        val connection = source.connection
        val proxy =
            Proxy.newProxyInstance(javaClass.classLoader, arrayOf(Connection::class.java)) { _, method, arguments ->
                fails(method.name, arguments?.firstOrNull())?.let { throw it }
                if (method.name == "close" && !connection.isClosed) free.release()
                try {
                    method.invoke(connection, *(arguments ?: emptyArray()))
                } catch (e: InvocationTargetException) {
                    throw e.targetException
                }
            }
        return proxy as Connection
    }
}
