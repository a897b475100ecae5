package baton.scheduler.jdbc

import java.sql.SQLException
import kotlin.time.Duration.Companion.seconds
import kotlin.time.TimeSource

/** Creates the tables of a store, also where another program does so at the same moment. */
internal class TableCreation(private val session: JdbcSession, private val names: TableNames) {
    private var isRace = false

    fun create() {
        val begin = TimeSource.Monotonic.markNow()
        while (!areThere()) {
            isRace = false
            try {
                session.transaction(keeps = session.isOpen) {
                    for (sql in dialect.schema(names)) dialect.refusingKeyword(names) { create(sql) }
                }
                return
            } catch (e: SQLException) {
                if (!isRace || begin.elapsedNow() > LONGEST_RACE) throw e
            }
        }
    }

    private fun Transaction.create(sql: String) {
        try {
            execute(sql)
        } catch (e: SQLException) {
            isRace = dialect.isCreatedMeanwhile(e)
            throw e
        }
    }

    private fun areThere(): Boolean =
        session.transaction(keeps = session.isOpen) {
            // A query of a table that is not there fails, and that ends a transaction of PostgreSQL.
            val data = connection.metaData
            val name =
                when {
                    data.storesUpperCaseIdentifiers() -> names.owner.uppercase()
                    data.storesLowerCaseIdentifiers() -> names.owner.lowercase()
                    else -> names.owner
                }
            val schema: String? = connection.schema
            data.getTables(connection.catalog, schema, name, null).use { tables ->
                // The _ of a name is a wildcard, also in that of the schema.
                var isFound = false
                while (!isFound && tables.next()) {
                    isFound =
                        tables.getString("TABLE_NAME").equals(names.owner, ignoreCase = true) &&
                            (schema == null || tables.getString("TABLE_SCHEM") == schema)
                }
                isFound
            }
        }

    private companion object {
        /** Less than a database waits for one that holds a lock. */
        val LONGEST_RACE = 4.seconds
    }
}
