package baton.scheduler.jdbc

import baton.scheduler.jdbc.databases.H2Database
import baton.scheduler.jdbc.databases.TestDatabase

class H2ScheduleStoreTest : JdbcScheduleStoreContract() {
    override fun database(): TestDatabase = H2Database(directory)
}
