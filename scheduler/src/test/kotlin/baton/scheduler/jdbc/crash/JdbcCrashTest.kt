package baton.scheduler.jdbc.crash

import baton.scheduler.jdbc.databases.JdbcStoreFixture
import baton.scheduler.jdbc.databases.PostgresDatabase
import baton.scheduler.jdbc.databases.SqliteDatabase
import java.nio.file.Path
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir

/** The 20 kills on each database are in [JdbcCrashDeepTest]. */
class JdbcCrashTest {
    @TempDir private lateinit var directory: Path

    @Test
    fun sqlite_ofAnOwnerKilled_losesNothingConfirmed() =
        JdbcStoreFixture(SqliteDatabase(directory)).use { JdbcCrashes(it).kill(times = 2) }

    @Test
    fun postgres_ofAnOwnerKilled_losesNothingConfirmed() =
        JdbcStoreFixture(PostgresDatabase()).use { JdbcCrashes(it).kill(times = 1) }
}
