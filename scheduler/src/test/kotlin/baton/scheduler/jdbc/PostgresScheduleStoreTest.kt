package baton.scheduler.jdbc

import baton.scheduler.jdbc.databases.PostgresDatabase
import baton.scheduler.jdbc.databases.TestDatabase

class PostgresScheduleStoreTest : JdbcScheduleStoreContract() {
    override fun database(): TestDatabase = PostgresDatabase()
}
