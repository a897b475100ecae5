package baton.scheduler.jdbc

class PostgresScheduleStoreTest : JdbcScheduleStoreContract() {
    override fun database(): TestDatabase = PostgresDatabase()
}
