package baton.scheduler.jdbc

class SqliteScheduleStoreTest : JdbcScheduleStoreContract() {
    override fun database(): TestDatabase = SqliteDatabase(directory)
}
