package baton.scheduler.jdbc

class H2ScheduleStoreTest : JdbcScheduleStoreContract() {
    override fun database(): TestDatabase = H2Database(directory)
}
