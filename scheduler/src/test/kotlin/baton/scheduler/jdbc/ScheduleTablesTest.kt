package baton.scheduler.jdbc

import java.nio.file.Path
import kotlin.io.path.readText
import kotlin.io.path.writeText
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

/** The page that shows the statements of `createTables`; `-Dapi.update=true` writes it anew. */
class ScheduleTablesTest {
    private val page: Path = Path.of("../docs/SCHEDULE_TABLES.md")

    private fun block(dialect: Dialect) =
        dialect.schema(TableNames("checks")).joinToString("\n", "## ${dialect.name}\n\n```sql\n", "\n```\n") { sql ->
            sql.trim().lines().joinToString("\n    ") { it.trim() } + ";"
        }

    @Test
    fun page_showsTheStatementsThatCreateTheTables() {
        val shown = page.readText()
        val head = shown.substringBefore("## ")
        val expected = head + listOf(H2Dialect, SqliteDialect, PostgresDialect).joinToString("\n") { block(it) }
        if (java.lang.Boolean.getBoolean("api.update")) page.writeText(expected)
        assertEquals(expected, page.readText())
    }
}
