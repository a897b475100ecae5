package baton.scheduler.jdbc.databases

import java.sql.DriverManager
import java.util.concurrent.atomic.AtomicInteger
import org.junit.jupiter.api.Assumptions.assumeTrue
import org.postgresql.ds.PGSimpleDataSource

/** A schema of its own on the server that all tests of this JVM share. */
class PostgresDatabase : TestDatabase {
    private val schema = "baton_${ProcessHandle.current().pid()}_${count.incrementAndGet()}"
    override val url: String

    init {
        val server = PostgresServer.url
        assumeTrue(server != null) { "no PostgreSQL" }
        DriverManager.getConnection(server).use { it.createStatement().execute("CREATE SCHEMA $schema") }
        url = "$server${if ('?' in server!!) "&" else "?"}currentSchema=$schema"
    }

    override val source = PGSimpleDataSource().also { it.setURL(url) }

    override fun close() {
        connect().use { it.createStatement().execute("DROP SCHEMA $schema CASCADE") }
    }

    companion object {
        private val count = AtomicInteger()
    }
}
