package baton.scheduler.jdbc.databases

import java.nio.file.Path
import java.sql.Connection
import javax.sql.DataSource
import org.h2.jdbcx.JdbcDataSource
import org.sqlite.SQLiteConfig
import org.sqlite.SQLiteDataSource

/** A database that is empty at first. */
interface TestDatabase : AutoCloseable {
    val source: DataSource

    /** For a driver of its own, in another process. */
    val url: String

    fun connect(): Connection = source.connection
}

internal class H2Database(directory: Path, settings: String = "") : TestDatabase {
    override val url = "jdbc:h2:${directory.resolve("h2")};DB_CLOSE_DELAY=-1$settings"
    override val source = JdbcDataSource().also { it.setURL(url) }

    override fun close() {
        connect().use { it.createStatement().use { statement -> statement.execute("SHUTDOWN") } }
    }
}

internal class SqliteDatabase(directory: Path) : TestDatabase {
    override val url = "jdbc:sqlite:${directory.resolve("sqlite.db")}"
    override val source =
        SQLiteDataSource(
                SQLiteConfig().also {
                    it.setJournalMode(SQLiteConfig.JournalMode.WAL)
                    it.setSynchronous(SQLiteConfig.SynchronousMode.NORMAL)
                }
            )
            .also { it.url = url }

    init {
        // The driver does not wait for the file when it sets the mode for the first time.
        connect().close()
    }

    override fun close() {}
}
