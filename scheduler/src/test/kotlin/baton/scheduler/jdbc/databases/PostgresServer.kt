package baton.scheduler.jdbc.databases

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres

/** The server that all tests of this JVM share. */
object PostgresServer {
    /** The URL of a server; null if there is none. It ends with the JVM. */
    val url: String? by lazy {
        System.getenv("BATON_POSTGRES_URL")
            ?: start { setServerConfig("synchronous_commit", "off") }?.getJdbcUrl("postgres", "postgres")
    }

    /** Another server; null if there is none for this system, and none is required. */
    fun start(configure: EmbeddedPostgres.Builder.() -> Unit): EmbeddedPostgres? =
        try {
            EmbeddedPostgres.builder().apply(configure).start()
        } catch (e: Exception) {
            unavailable(e)
        } catch (e: LinkageError) {
            unavailable(e)
        }

    private fun unavailable(e: Throwable): EmbeddedPostgres? {
        if (java.lang.Boolean.getBoolean("postgres.required")) throw IllegalStateException("PostgreSQL is required", e)
        val message = "NO POSTGRESQL HERE: ITS TESTS WERE SKIPPED ($e). BATON_POSTGRES_URL may name a server."
        System.err.println(message)
        Runtime.getRuntime().addShutdownHook(Thread { System.err.println(message) })
        return null
    }
}
