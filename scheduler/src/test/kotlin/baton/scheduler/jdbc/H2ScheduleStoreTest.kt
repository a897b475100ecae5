package baton.scheduler.jdbc

import baton.scheduler.jdbc.databases.H2Database
import baton.scheduler.jdbc.databases.TestDatabase

class H2ScheduleStoreTest : JdbcScheduleStoreContract() {
    override fun database(): TestDatabase = H2Database(directory)
}

/** The empty text is NULL there. */
class H2OracleModeScheduleStoreTest : JdbcScheduleStoreContract() {
    override fun database(): TestDatabase = H2Database(directory, ";MODE=Oracle")
}
