package baton.scheduler.jdbc.databases

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres
import java.sql.DriverManager
import java.util.concurrent.atomic.AtomicInteger
import org.junit.jupiter.api.Assumptions.assumeTrue
import org.postgresql.ds.PGSimpleDataSource

/** A schema of its own on the server that all tests of this JVM share. */
internal class PostgresDatabase : TestDatabase {
    private val schema = "baton_${ProcessHandle.current().pid()}_${count.incrementAndGet()}"
    override val url: String

    init {
        val server = serverUrl
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

        /** The URL of a server; null if there is none. It ends with the JVM. */
        val serverUrl: String? by lazy { System.getenv("BATON_POSTGRES_URL") ?: embedded() }

        private fun embedded(): String? =
            try {
                val server = EmbeddedPostgres.builder().setServerConfig("synchronous_commit", "off").start()
                server.getJdbcUrl("postgres", "postgres")
            } catch (e: Exception) {
                unavailable(e)
            } catch (e: LinkageError) {
                unavailable(e)
            }

        private fun unavailable(e: Throwable): String? {
            if (java.lang.Boolean.getBoolean("postgres.required"))
                throw IllegalStateException("PostgreSQL is required", e)
            val message = "NO POSTGRESQL HERE: ITS TESTS WERE SKIPPED ($e). BATON_POSTGRES_URL may name a server."
            System.err.println(message)
            Runtime.getRuntime().addShutdownHook(Thread { System.err.println(message) })
            return null
        }
    }
}
